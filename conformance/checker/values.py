"""One value and its mark: `counter`, `quota`, `max`, `min`, `machine`, `lattice`, `reduce`, `derived`."""
from .canonical import canonical
from .kind import Kind
from .marks import ABSENT, affirmed, blocker, summed
from .reading import fault, has_type, is_integer, read_list, read_one, read_verbs


class Sum(Kind):
    def read(self, intent, path, refuse):
        read = read_one(intent, self.name, ['inc'], path, refuse)
        if read is None:
            return None
        if not is_integer(read[1]):
            refuse(path, 'schema', self.name, 'change', want=read[1])
        elif abs(read[1]) > 1_000_000_000:
            refuse(path, 'bound', self.name, 'change', have=1_000_000_000, want=read[1])
        else:
            return read[1]
        return None

    def fold(self, cell, inc, path, attempt):
        if inc == 0:
            attempt.note(path, 'unchanged')
            return cell
        value = cell['value'] + inc
        if not self.merge['lo'] <= value <= self.merge['hi']:
            attempt.refuse(path, 'bound', self.name, 'change', have=cell['value'], want={'inc': inc})
            return cell
        return {'value': value, 'mark': affirmed(cell['mark'], attempt.mark)}


class Extremum(Kind):
    def read(self, intent, path, refuse):
        read = read_one(intent, self.name, ['raise' if self.name == 'max' else 'lower'], path, refuse)
        if read is None:
            return None
        if not is_integer(read[1]):
            refuse(path, 'schema', self.name, 'change', want=read[1])
        elif not self.merge['lo'] <= read[1] <= self.merge['hi']:
            refuse(path, 'bound', self.name, 'change', want=read[1])
        else:
            return read[1]
        return None

    def fold(self, cell, value, path, attempt):
        if value > cell['value'] if self.name == 'max' else value < cell['value']:
            return {'value': value, 'mark': summed(cell['mark'], attempt.mark)}
        attempt.note(path, 'unchanged')
        return cell


class Machine(Kind):
    def read(self, intent, path, refuse):
        verbs = read_verbs(intent, self.name, ['to', 'from'], path, refuse)
        if verbs is None:
            return None
        states = self.merge['moves']
        to, start = verbs.get('to', ABSENT), verbs.get('from', ABSENT)
        is_state = isinstance(to, str) and to in states
        if is_state and (start is ABSENT or (isinstance(start, str) and start in states)):
            return to, start
        refuse(path, 'schema', self.name, 'change', want=start if is_state else to)
        return None

    def fold(self, cell, op, path, attempt):
        (to, start), now = op, cell['value']
        if to == now and start in (ABSENT, now):
            attempt.note(path, 'unchanged')
            return cell
        if start not in (ABSENT, now) or to not in self.merge['moves'][now]:
            recovery = 'change' if attempt.sees(cell['mark']) else 're-read'
            by = blocker(cell['mark'], attempt.agent)
            attempt.refuse(path, 'transition', self.name, recovery, have=now, want=to, by=by)
            return cell
        return {'value': to, 'mark': summed(cell['mark'], attempt.mark)}


class Lattice(Kind):
    def read(self, intent, path, refuse):
        read = read_one(intent, self.name, ['advance'], path, refuse)
        if read is None:
            return None
        if isinstance(read[1], str) and read[1] in self.merge['edges']:
            return read[1]
        refuse(path, 'schema', self.name, 'change', want=read[1])
        return None

    def above(self, state):
        reached = {state}
        for target in self.merge['edges'][state]:
            reached |= self.above(target)
        return reached

    def fold(self, cell, state, path, attempt):
        common = self.above(cell['value']) & self.above(state)
        value = next(one for one in common if common <= self.above(one))
        if value == cell['value']:
            attempt.note(path, 'unchanged')
            return cell
        if value != state:
            attempt.note(path, 'superseded', by='' if cell['mark'] is None else cell['mark'].agent, value=value)
        return {'value': value, 'mark': affirmed(cell['mark'], attempt.mark)}


class Reduce(Kind):
    """What the function makes of the updates, one after the other."""

    def read(self, intent, path, refuse):
        read = read_one(intent, 'reduce', ['apply'], path, refuse)
        if read is None:
            return None
        place, updates = f'{path}/apply', read[1]
        if not isinstance(updates, list):
            return [updates] if has_type(self.merge['update'], updates, 'reduce', place, refuse) else None
        if not updates:
            refuse(place, 'schema', 'reduce', 'change', want=updates)
            return None
        return read_list(self.merge['update'], updates, 'reduce', place, refuse)

    def weigh(self, op):
        return len(op)

    def fold(self, cell, updates, path, attempt):
        value = cell['value']
        for at, update in enumerate(updates):
            after = self.function(value, update)
            code = fault(self.merge['state'], after)
            if code is not None:
                place = path if len(updates) == 1 else f'{path}/apply/{at}'
                attempt.refuse(place, code, 'reduce', 'change', have=value, want=update)
                return cell
            value = after
        if canonical(value) != canonical(cell['value']):
            return {'value': value, 'mark': affirmed(cell['mark'], attempt.mark)}
        attempt.note(path, 'unchanged')
        return cell


class Derived(Kind):
    def empty(self, born):
        return {'value': None, 'mark': None}

    def read(self, intent, path, refuse):
        refuse(path, 'derived', 'derived', 'change')
        return None
