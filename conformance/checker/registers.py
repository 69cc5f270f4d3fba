"""Registers: `cas`, `lww`, `priority`."""
from .canonical import canonical, excerpt
from .kind import Kind
from .marks import ABSENT, blocker, mark_json, nullable, summed
from .reading import has_type, read_one


class Register(Kind):
    """A value that is set or unset. `stamp` is that of the newest write, where the greatest one stands."""

    def empty(self, born):
        return {'value': self.merge.get('start', ABSENT), 'mark': born, 'stamp': None}

    def read(self, intent, path, refuse):
        read = read_one(intent, self.name, ['set', 'unset'], path, refuse)
        if read is None:
            return None
        if read[0] == 'set':
            return [read[1]] if has_type(self.merge['type'], read[1], self.name, path, refuse) else None
        if read[1] is True:
            return [ABSENT]
        refuse(path, 'schema', self.name, 'change', want=read[1])
        return None

    def erases(self, op):
        return 1 if op[0] is ABSENT else 0

    def fold(self, cell, op, path, attempt):
        value, [wanted], mark = cell['value'], op, cell['mark']
        is_same = value is wanted or (ABSENT not in (value, wanted) and canonical(value) == canonical(wanted))
        after = {'value': wanted, 'mark': summed(mark, attempt.mark), 'stamp': None}
        if self.name == 'cas':
            if is_same:
                attempt.note(path, 'unchanged')
                return cell
            if not attempt.sees(mark):
                by = blocker(mark, attempt.agent)
                attempt.refuse(path, 'conflict', 'cas', 're-read', have=nullable(value), want=nullable(wanted), by=by)
            return after
        stamp, known = attempt.stamp, cell['stamp']
        if known is not None and self.rank(stamp) < self.rank(known):
            if is_same:
                attempt.note(path, 'unchanged')
            else:
                attempt.note(path, 'superseded', by=known.agent, value=excerpt(nullable(value)))
            return cell
        if is_same:
            attempt.note(path, 'unchanged')
            if known is not None:
                return {**cell, 'stamp': stamp}
        elif mark is not None and not attempt.sees(mark):
            attempt.note(path, 'merged', over={'agent': mark.agent, 'n': mark.n})
        return {**after, 'stamp': stamp}

    def rank(self, stamp):
        return (stamp.priority, stamp) if self.name == 'priority' else (0, stamp)

    def json(self, cell):
        return nullable(cell['value'])

    def encode(self, cell):
        stored = {'mark': mark_json(cell['mark'])}
        if cell['stamp'] is not None:
            stored['stamp'] = cell['stamp']
        if cell['value'] is not ABSENT:
            stored['value'] = cell['value']
        return canonical(stored)
