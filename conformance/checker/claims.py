"""The kind `claim`."""
from .canonical import canonical
from .kind import Kind
from .marks import ABSENT, blocker, mark_json, summed
from .reading import has_type, read_one


class Claim(Kind):
    def empty(self, born):
        return {'holder': None, 'fence': 0, 'last': None, 'mark': born}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'claim', ['claim', 'release', 'handoff'], path, refuse)
        if read is None:
            return None
        verb, value = read
        if verb != 'handoff' and value is True:
            return verb, None
        if verb == 'release' and isinstance(value, dict) and list(value) == ['outcome']:
            outcome = value['outcome']
            return (verb, outcome) if has_type(self.merge['outcome'], outcome, 'claim', path, refuse) else None
        if verb == 'handoff' and isinstance(value, dict) and list(value) == ['to'] and isinstance(value['to'], str):
            return verb, value['to']
        refuse(path, 'schema', 'claim', 'change', want=value)
        return None

    def fold(self, cell, op, path, attempt):
        (verb, given), agent, holder = op, attempt.agent, cell['holder']
        mark = summed(cell['mark'], attempt.mark)
        granted = mark.revision * 4096 + attempt.turn
        if verb == 'claim':
            if holder is None:
                return {**cell, 'holder': agent, 'fence': granted, 'mark': mark}
            if holder == agent:
                attempt.note(path, 'unchanged')
            else:
                attempt.refuse(path, 'held', 'claim', 'wait', have={'holder': holder}, want={'holder': agent}, by=holder)
            return cell
        if holder != agent:
            by = ABSENT if holder is None else holder
            attempt.refuse(path, 'not_owner', 'claim', 'claim-again', have={'holder': holder}, want={verb: True}, by=by)
            return cell
        if not attempt.sees(cell['mark']):
            by = blocker(cell['mark'], agent)
            attempt.refuse(path, 'conflict', 'claim', 're-read', have={'holder': holder}, want={verb: True}, by=by)
            return cell
        if verb == 'release':
            return {**cell, 'holder': None, 'last': ended(agent, 'released', given), 'mark': mark}
        return {'holder': given, 'fence': granted, 'last': ended(agent, 'handed over', None), 'mark': mark}

    def may_drop(self, cell, path, attempt):
        holder = cell['holder']
        if holder in (None, attempt.agent) or attempt.role in self.merge.get('force', []):
            return True
        attempt.refuse(path, 'held', 'claim', 'wait', have={'holder': holder}, by=holder)
        return False

    def expire(self, cell, tokens, event, mark):
        is_due = cell['holder'] is not None and cell['fence'] == event['token'] and event['cause'] != 'deadline'
        if tokens or 'leaseMs' not in self.merge or not is_due:
            return cell
        how = 'left' if event['cause'] == 'left' else 'expired'
        return {**cell, 'holder': None, 'last': ended(cell['holder'], how, None), 'mark': summed(cell['mark'], mark)}

    def json(self, cell):
        return {'holder': cell['holder'], 'last': cell['last']}

    def encode(self, cell):
        stored = {'fence': cell['fence'], 'last': cell['last'], 'mark': mark_json(cell['mark'])}
        return canonical(stored if cell['holder'] is None else {**stored, 'holder': cell['holder']})


def ended(holder, how, outcome):
    return {'holder': holder, 'how': how, 'outcome': outcome}
