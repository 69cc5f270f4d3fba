"""Fixtures with one thing wrong, to see that the checker finds it."""
import re

from .differs import Differs
from .fixture import check_play
from .schema import Schema


def unfound(fixture):
    """Spoils every entry of a fixture; gives what was not found, in words, and how many were spoilt."""
    schema, missed, count = Schema(fixture['contract'], fixture['functions'], fixture['checks']), [], 0
    for number, play in enumerate(fixture['plays']):
        for what, spoilt in spoilt_plays(play):
            count += 1
            try:
                check_play(schema, fixture['space'], number, spoilt)
                missed.append(f'play {number}, {what}')
            except Differs:
                pass
    return missed, count


def spoilt_plays(play):
    """The play with one byte of an entry, with another verdict, and with another state at the end."""
    for at, given in enumerate(play['rounds']):
        for what, entry in spoilt_entries(given['entry'], at):
            rounds = play['rounds'][:at] + [{**given, 'entry': entry}] + play['rounds'][at + 1:]
            yield f'entry {at}, {what}', {**play, 'rounds': rounds}
    yield 'the state', {**play, 'state': {**play['state'], 'f': 'other'}}


def spoilt_entries(entry, seed):
    for at in (place_in(entry, seed * 7919), entry.index('"state":"') + 9 + seed % 64):
        yield f'byte {at}', entry[:at] + ('1' if entry[at] == '0' else '0') + entry[at + 1:]
    verdict = entry.rfind('"kind":"committed"')
    if verdict >= 0:
        yield 'a verdict', entry[:verdict] + '"kind":"rejected"' + entry[verdict + 18:]
    issue = re.search('"code":"[a-z_]+"', entry)
    if issue is not None:
        yield 'a code', entry.replace(issue.group(), '"code":"other"', 1)


def place_in(entry, number):
    """A place that is in no hint: those are taken from the entry as they stand."""
    hints = [one.span() for one in re.finditer(r'"hint":"(\\.|[^"\\])*"', entry)]
    places = [at for at in range(len(entry)) if not any(start <= at < end for start, end in hints)]
    return places[number % len(places)]
