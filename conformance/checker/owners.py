"""The kind `owned`: a value that its owners alone set, and rivals where there is a dispute policy."""
from typing import NamedTuple

from .canonical import canonical
from .kind import Kind
from .marks import ABSENT, Mark, affirmed, blocker, least_trust, mark_json, nullable, summed, trusted_to
from .reading import has_type, read_verbs

OWNERS_MAX = 64
RIVALS_MAX = 8


class Rival(NamedTuple):
    agent: str
    value: object
    mark: Mark


class Owned(Kind):
    """`wrote` is the mark of what led to the value; one rival an agent, the oldest first."""

    def empty(self, born):
        return {'value': self.merge.get('start', ABSENT), 'wrote': born, 'owners': [], 'rivals': [], 'mark': born}

    def read(self, intent, path, refuse):
        force = self.merge.get('force', [])
        verbs = read_verbs(intent, 'owned', ['set', 'release'] + (['force'] if force else []), path, refuse)
        if verbs is None:
            return None
        if set(verbs) == {'release'} and verbs['release'] is True:
            return 'release', ABSENT
        if 'set' in verbs and 'release' not in verbs and verbs.get('force', True) is True:
            if not has_type(self.merge['type'], verbs['set'], 'owned', path, refuse):
                return None
            return 'force' if 'force' in verbs else 'set', verbs['set']
        refuse(path, 'schema', 'owned', 'change', want=intent)
        return None

    def may_drop(self, cell, path, attempt):
        others = [owner for owner in cell['owners'] if owner != attempt.agent]
        if not others or attempt.role in self.merge.get('force', []):
            return True
        have = {'owners': cell['owners'], 'value': nullable(cell['value'])}
        attempt.refuse(path, 'not_owner', 'owned', 'change', have=have, by=others[0])
        return False

    def erases(self, op):
        return 1 if op[0] == 'release' else 0

    def fold(self, cell, op, path, attempt):
        verb, value = op
        if verb == 'release':
            return self.released(cell, path, attempt)
        force = self.merge.get('force', [])
        if verb == 'force' and attempt.role not in force:
            attempt.refuse(path, 'forbidden', 'owned', 'change', have=attempt.role, want=', '.join(force))
            return cell
        if verb == 'force' and cell['owners']:
            after = self.decided(cell, value, path, attempt)
        elif is_same(value, cell['value']):
            after = joined(cell, path, attempt)
        else:
            after = self.asked(cell, value, path, attempt)
        if len(after['owners']) > OWNERS_MAX:
            attempt.refuse(path, 'bound', 'owned', 'change', have=OWNERS_MAX, want=attempt.agent)
        return after

    def asked(self, cell, value, path, attempt):
        """Another value than the one that stands."""
        own = next((one for one in cell['rivals'] if one.agent == attempt.agent), None)
        if own is not None and is_same(own.value, value):
            attempt.note(path, 'contested')
            return cell
        rivals = without(cell['rivals'], [attempt.agent]) + [Rival(attempt.agent, value, attempt.mark)]
        backers = backers_of(rivals, value)
        if stand_behind(cell['owners'], backers):
            if not cell['owners'] and not attempt.sees(cell['wrote']):
                by = blocker(cell['wrote'], attempt.agent)
                have = nullable(cell['value'])
                attempt.refuse(path, 'conflict', 'owned', 're-read', have=have, want=value, by=by)
            note_over(cell, path, attempt)
            return taken(cell, rivals, value, backers, attempt)
        if 'dispute' not in self.merge:
            refuse_foreign(cell, value, path, attempt)
        elif len(rivals) > RIVALS_MAX:
            attempt.refuse(path, 'bound', 'owned', 'wait', have=RIVALS_MAX, want=value)
        else:
            attempt.note(path, 'contested')
        return {**cell, 'rivals': rivals, 'mark': affirmed(cell['mark'], attempt.mark)}

    def decided(self, cell, value, path, attempt):
        """A set by force where somebody owns the value."""
        unseen = [one for one in cell['rivals'] if not attempt.sees(one.mark)]
        if is_same(value, cell['value']):
            if len(unseen) == len(cell['rivals']):
                attempt.note(path, 'unchanged')
                return cell
            return {**cell, 'rivals': unseen, 'mark': affirmed(cell['mark'], attempt.mark)}
        backers = backers_of(cell['rivals'], value) or [Rival(attempt.agent, value, attempt.mark)]
        note_over(cell, path, attempt)
        return taken(cell, unseen, value, backers, attempt)

    def released(self, cell, path, attempt):
        rivals = without(cell['rivals'], [attempt.agent])
        owners = [one for one in cell['owners'] if one != attempt.agent]
        if len(owners) == len(cell['owners']) and len(rivals) == len(cell['rivals']):
            refuse_foreign(cell, ABSENT, path, attempt)
            return cell
        if owners:
            # The one who left may have been the last who held on to the value.
            wanted = next((one.value for one in rivals if one.agent == owners[0]), ABSENT)
            backers = backers_of(rivals, wanted)
            if wanted is not ABSENT and stand_behind(owners, backers):
                between = {**cell, 'mark': affirmed(cell['mark'], attempt.mark)}
                return taken(between, rivals, wanted, backers, attempt)
            return {**cell, 'owners': owners, 'rivals': rivals, 'mark': affirmed(cell['mark'], attempt.mark)}
        value = rivals[0].value if rivals else self.merge.get('start', ABSENT)
        return taken(cell, rivals, value, backers_of(rivals, value) if rivals else [], attempt)

    def expire(self, cell, tokens, event, mark):
        rivals = [one for one in cell['rivals'] if one.mark.revision != event['token']]
        is_due = event['cause'] == 'deadline' and len(rivals) < len(cell['rivals'])
        if tokens or 'deadlineMs' not in self.merge.get('dispute', {}) or not is_due:
            return cell
        return {**cell, 'rivals': rivals, 'mark': affirmed(cell['mark'], mark)}

    def json(self, cell):
        shown = {'value': nullable(cell['value']), 'owners': cell['owners']}
        rivals = [{'by': one.agent, 'value': one.value} for one in cell['rivals']]
        return {**shown, 'rivals': rivals} if 'dispute' in self.merge else shown

    def encode(self, cell):
        marks = {one: mark_json(cell[one]) for one in ('mark', 'wrote')}
        rivals = [[one.agent, one.value, mark_json(one.mark)] for one in cell['rivals']]
        value = {} if cell['value'] is ABSENT else {'value': cell['value']}
        return canonical({**marks, 'owners': cell['owners'], 'rivals': rivals, **value})


def joined(cell, path, attempt):
    """The value that stands, set again: its agent owns it too, and wants no other."""
    attempt.note(path, 'unchanged')
    owners, rivals = sorted({*cell['owners'], attempt.agent}), without(cell['rivals'], [attempt.agent])
    if owners == cell['owners'] and len(rivals) == len(cell['rivals']):
        return cell
    return {**cell, 'owners': owners, 'rivals': rivals, 'mark': affirmed(cell['mark'], attempt.mark)}


def taken(cell, rivals, value, backers, attempt):
    """The value, owned by all who stand behind it; trusted as the least of them."""
    owners = [one.agent for one in backers]
    wrote = trusted_to(attempt.mark, least_trust(one.mark for one in backers))
    left = without(rivals, owners)
    return {'value': value, 'wrote': wrote, 'owners': sorted(owners), 'rivals': left, 'mark': summed(cell['mark'], wrote)}


def refuse_foreign(cell, want, path, attempt):
    others = [one for one in cell['owners'] if one != attempt.agent]
    have = {'value': nullable(cell['value']), 'owners': cell['owners']}
    by = others[0] if others else ABSENT
    attempt.refuse(path, 'not_owner', 'owned', 'change', have=have, want=want, by=by)


def note_over(cell, path, attempt):
    if cell['wrote'] is not None and not attempt.sees(cell['wrote']):
        attempt.note(path, 'merged', over={'agent': cell['wrote'].agent, 'n': cell['wrote'].n})


def without(rivals, agents):
    return [one for one in rivals if one.agent not in agents]


def backers_of(rivals, value):
    return [one for one in rivals if is_same(one.value, value)]


def stand_behind(owners, backers):
    return set(owners) <= {one.agent for one in backers}


def is_same(value, other):
    return ABSENT not in (value, other) and canonical(value) == canonical(other)
