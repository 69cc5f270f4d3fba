"""A fixture, folded again and compared."""
import json
import pathlib

from .canonical import canonical
from .differs import Differs
from .schema import Schema
from .space import Space


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding='utf-8'))


def check(fixture):
    """Folds every play of a fixture; gives the number of entries. Raises Differs."""
    schema = Schema(fixture['contract'], fixture['functions'], fixture['checks'])
    return sum(check_play(schema, fixture['space'], number, play) for number, play in enumerate(fixture['plays']))


def check_play(schema, name, number, play):
    space = Space(name, schema)
    for given in play['rounds']:
        # Order and repeats say nothing: the proposals are given backwards and twice.
        proposals = given['proposals'][::-1] + given['proposals']
        made = space.seal(given['term'], given['events'], proposals, hints_of(given['entry']))
        if made != given['entry']:
            raise Differs(f'play {number}, entry {space.revision}', made, given['entry'])
    state, wanted = canonical(schema.views(space.cells)), canonical(play['state'])
    if state != wanted:
        raise Differs(f'play {number}, the state at the end', state, wanted)
    return len(play['rounds'])


def hints_of(entry):
    """The hints of each dot that is refused; none where the entry is none."""
    try:
        judged = [one for one in json.loads(entry)['members'] if 'proposal' in one]
        hints = [[issue['hint'] for issue in one['verdict'].get('issues', [])] for one in judged]
        return {(one['proposal']['agent'], one['proposal']['n']): given for one, given in zip(judged, hints)}
    except (ValueError, KeyError):
        return {}
