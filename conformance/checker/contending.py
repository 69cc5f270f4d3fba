"""The kind `multi`: values that have not seen each other stand side by side."""
from typing import NamedTuple

from .canonical import canonical
from .kind import Kind
from .marks import Mark, Stamp, least_trust, mark_json, summed, trusted_to
from .reading import has_type, read_one


class Sibling(NamedTuple):
    value: object
    mark: Mark
    stamp: Stamp


class Multi(Kind):
    """`siblings` in win order, the greatest first; `since` is the revision at which values began to contend, or None."""

    def empty(self, born):
        return {'siblings': [], 'mark': born, 'since': None}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'multi', ['set'], path, refuse)
        return [read[1]] if read is not None and has_type(self.merge['type'], read[1], 'multi', path, refuse) else None

    def fold(self, cell, op, path, attempt):
        [value], dispute, before = op, self.merge.get('dispute'), values_of(cell['siblings'])
        seen = [one for one in cell['siblings'] if attempt.sees(one.mark)]
        # In a dispute all but the arbiter replace what is their own, and nothing else.
        is_voice = dispute is not None and attempt.role != dispute['arbiter'] and len(values_of(seen)) > 1
        gone = [one for one in seen if one.mark.agent == attempt.agent] if is_voice else seen
        kept = [one for one in cell['siblings'] if one not in gone]
        mark = trusted_to(attempt.mark, least_trust(one.mark for one in gone if canonical(one.value) == canonical(value)))
        after = self.standing(cell, kept + [Sibling(value, mark, attempt.stamp)], mark)
        values = values_of(after['siblings'])
        if len(values) > self.merge['cap']:
            recovery = 'wait' if is_voice else 're-read'
            attempt.refuse(path, 'bound', 'multi', recovery, have=self.merge['cap'], want=value)
            return cell
        if len(values) > 1:
            attempt.note(path, 'contested')
            return after
        if canonical(before) != canonical(values):
            return after
        attempt.note(path, 'unchanged')
        return {**after, 'mark': cell['mark']}

    def standing(self, before, siblings, mark):
        """The cell in which these siblings stand, trusted as the least of them."""
        siblings = sorted(siblings, key=lambda one: one.stamp, reverse=True)
        since = None
        if len(values_of(siblings)) > 1:
            since = mark.revision if before['since'] is None else before['since']
        worth = least_trust(one.mark for one in siblings)
        return {'siblings': siblings, 'mark': trusted_to(summed(before['mark'], mark), worth), 'since': since}

    def expire(self, cell, tokens, event, mark):
        dispute, siblings = self.merge.get('dispute', {}), cell['siblings']
        is_due = event['cause'] == 'deadline' and cell['since'] is not None and event['token'] == cell['since']
        if tokens or 'deadlineMs' not in dispute or not is_due:
            return cell
        value, left = siblings[0].value, mark
        if 'fallback' in dispute:
            value = dispute['fallback']['value']
        else:
            left = trusted_to(mark, least_trust(one.mark for one in siblings if canonical(one.value) == canonical(value)))
        return self.standing(cell, [Sibling(value, left, siblings[0].stamp)], left)

    def json(self, cell):
        values = values_of(cell['siblings'])
        return {'value': values[0] if values else None, 'rivals': values[1:]}

    def encode(self, cell):
        siblings = [[one.value, mark_json(one.mark), one.stamp] for one in cell['siblings']]
        since = {} if cell['since'] is None else {'since': cell['since']}
        return canonical({'mark': mark_json(cell['mark']), 'siblings': siblings, **since})


def values_of(siblings):
    """The different values, in the order in which they first stand."""
    return list({canonical(one.value): one.value for one in siblings}.values())
