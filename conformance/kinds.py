"""Canonical JSON, digests, marks and the field kinds of check.py, as docs/wire-format.md describes them."""
import hashlib
import json
from typing import NamedTuple, Optional, Tuple

TRUST_MAX = 100
SAFE_MAX = 2**53 - 1
ABSENT = object()


def units(text):
    """UTF-16 code units, as a key to sort by."""
    return text.encode('utf-16-be', 'surrogatepass')


def chars(text):
    return len(units(text)) // 2


def number_text(value):
    """A number as ECMAScript prints it."""
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    digits, _, exponent = text.lower().partition('e')
    sign, digits = ('-', digits[1:]) if digits.startswith('-') else ('', digits)
    whole, _, part = digits.partition('.')
    point = len(whole) + int(exponent or 0)
    both = (whole + part).lstrip('0')
    point -= len(whole + part) - len(both)
    both = both.rstrip('0')
    if -6 < point <= 0:
        return f'{sign}0.{"0" * -point}{both}'
    if 0 < point <= 21:
        return f'{sign}{both[:point]}.{both[point:]}'
    shift = point - 1
    return f'{sign}{both[0]}{"." if both[1:] else ""}{both[1:]}e{"+" if shift > 0 else ""}{shift}'


def canonical(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return f'[{",".join(map(canonical, value))}]'
    return '{' + ','.join(f'{canonical(key)}:{canonical(value[key])}' for key in sorted(value, key=units)) + '}'


def sha256(text):
    return hashlib.sha256(text.encode('utf-8')).hexdigest()


def leaf(text):
    return text if chars(text) <= 128 else f'"{sha256(text)}"'


def mix(start, text):
    """FNV-1a over the code units of a text, then the finaliser of MurmurHash3."""
    h = start
    for at in range(0, len(units(text)), 2):
        h = (h ^ int.from_bytes(units(text)[at:at + 2], 'big')) * 0x01000193 & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def trie_digest(texts, depth=0):
    """`texts` holds the text of every value by its key."""
    if len(texts) <= 16 or depth == 8:
        inside = ','.join(f'{canonical(key)}:{texts[key]}' for key in sorted(texts, key=units))
        return sha256(f'{{{inside}}}')
    parts = [{} for _ in range(16)]
    for key, text in texts.items():
        parts[mix(0x811C9DC5, key) >> 4 * depth & 15][key] = text
    return sha256('["' + '","'.join(trie_digest(part, depth + 1) for part in parts) + '"]')


def in_order(given):
    """The members of an object in the order in which they are folded: array indexes first, by number."""
    def place(key):
        is_index = key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**32 - 1
        return (0, int(key), b'') if is_index else (1, 0, units(key))
    return sorted(given, key=place)


def escaped(token):
    return token.replace('~', '~0').replace('/', '~1')


def tokens_of(path):
    return [token.replace('~1', '/').replace('~0', '~') for token in path.split('/')[1:]]


def clipped(text, most):
    if chars(text) <= most:
        return text
    cut = units(text)[:2 * most]
    if 0xD8 <= cut[-2] <= 0xDB:
        cut = cut[:-2]
    return f'{cut.decode("utf-16-be")}… ({chars(text)} characters)'


def excerpt(value):
    """A value as verdicts show it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clipped(value, 200)
    text = canonical(value)
    if chars(text) <= 200:
        return text if is_deeper(value, 8) else value
    return clipped(text, 200)


def is_deeper(value, depth):
    if not isinstance(value, (list, dict)):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(is_deeper(part, depth - 1) for part in parts)


class Mark(NamedTuple):
    agent: str
    n: int
    revision: int
    foreign: Optional[Tuple[str, int]]
    trust: Optional[int]


def mark_json(mark):
    if mark is None:
        return None
    trust = [] if mark.trust is None else [mark.trust]
    return [mark.agent, mark.n, mark.revision, *(mark.foreign or ()), *trust]


def summed(before, mark):
    if before is None:
        return mark
    foreign = before.foreign if before.agent == mark.agent else (before.agent, before.revision)
    return mark if foreign is None else mark._replace(foreign=foreign)


def least_trust(marks):
    return min([TRUST_MAX] + [mark.trust for mark in marks if mark is not None and mark.trust is not None])


def trusted_to(mark, trust):
    return mark._replace(trust=trust) if trust < least_trust([mark]) else mark


def affirmed(before, mark):
    return trusted_to(summed(before, mark), least_trust([before]))


def blocker(mark, agent):
    """Whose change stands in the way: `by` of an issue."""
    if mark is None:
        return ABSENT
    name = (mark.foreign or ('', 0))[0] if mark.agent == agent else mark.agent
    return name or ABSENT


def fault(schema, value):
    """None, `schema`, or `bound` where the value is of the type and too large or too small."""
    if 'anyOf' in schema:
        faults = [fault(one, value) for one in schema['anyOf']]
        return None if None in faults else 'bound' if faults.count('bound') == 1 else 'schema'
    if 'enum' in schema or 'const' in schema:
        allowed = schema.get('enum', [schema.get('const')])
        return None if canonical(value) in map(canonical, allowed) else 'schema'
    kind = schema['type']
    if kind == 'null':
        return None if value is None else 'schema'
    if kind == 'boolean':
        return None if isinstance(value, bool) else 'schema'
    if kind == 'string':
        if not isinstance(value, str):
            return 'schema'
        return None if schema.get('minLength', 0) <= chars(value) <= schema['maxLength'] else 'bound'
    if kind in ('integer', 'number'):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or (kind == 'integer' and value != int(value)):
            return 'schema'
        return None if schema['minimum'] <= value <= schema['maximum'] else 'bound'
    if kind == 'array':
        if not isinstance(value, list):
            return 'schema'
        faults = [fault(schema['items'], one) for one in value]
        is_long = len(value) > schema['maxItems'] or len(value) < schema.get('minItems', 0)
        return worst(faults + (['bound'] if is_long else []))
    if not isinstance(value, dict) or set(value) - set(schema['properties']) or set(schema['required']) - set(value):
        return 'schema'
    return worst([fault(schema['properties'][key], one) for key, one in value.items()])


def worst(faults):
    return 'schema' if 'schema' in faults else 'bound' if 'bound' in faults else None


def has_type(schema, value, rule, path, refuse):
    code = fault(schema, value)
    if code is not None:
        refuse(path, code, rule, 'change', want=value)
    return code is None


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_MAX


def read_verbs(intent, rule, verbs, path, refuse):
    if not isinstance(intent, dict):
        refuse(path, 'schema', rule, 'change', want=intent)
        return None
    if not intent or set(intent) - set(verbs):
        refuse(path, 'schema', rule, 'change')
        return None
    return intent


def read_one(intent, rule, verbs, path, refuse):
    read = read_verbs(intent, rule, verbs, path, refuse)
    if read is not None and len(read) > 1:
        refuse(path, 'schema', rule, 'change')
        return None
    return None if read is None else next(iter(read.items()))


class Kind:
    """A cell with a `mark`, and mostly a `value`."""

    def __init__(self, merge):
        self.merge, self.name = merge, merge['kind']

    def empty(self, born):
        return {'value': self.merge.get('start'), 'mark': born}

    def weigh(self, op):
        return 1

    def erases(self, op):
        return 0

    def newest(self, cell):
        return cell['mark']

    def json(self, cell):
        return cell['value']

    def encode(self, cell):
        return canonical({'mark': mark_json(cell['mark']), 'value': cell['value']})

    def digest(self, cell):
        return leaf(self.encode(cell))

    def child(self, cell, token):
        return None

    def settle(self, cell, path, evict):
        return cell

    def expire(self, cell, tokens, event, mark):
        return cell


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


class Register(Kind):
    """`cas`, `lww`, `priority`, and a group that merges by one of them."""

    def __init__(self, merge):
        super().__init__(merge)
        self.name = merge.get('rule', merge['kind'])

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


def nullable(value):
    return None if value is ABSENT else value


class Derived(Kind):
    def empty(self, born):
        return {'value': None, 'mark': None}

    def read(self, intent, path, refuse):
        refuse(path, 'derived', 'derived', 'change')
        return None


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
            return (verb, value['outcome']) if has_type(self.merge['outcome'], value['outcome'], 'claim', path, refuse) else None
        if verb == 'handoff' and isinstance(value, dict) and list(value) == ['to'] and isinstance(value['to'], str):
            return verb, value['to']
        refuse(path, 'schema', 'claim', 'change', want=value)
        return None

    def fold(self, cell, op, path, attempt):
        (verb, given), agent, holder = op, attempt.agent, cell['holder']
        mark = summed(cell['mark'], attempt.mark)
        granted = max(mark.revision, cell['fence'] + 1)
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


class Element(Kind):
    """An element of a set, as a place on a path."""

    def __init__(self):
        super().__init__({'kind': 'element'})

    def newest(self, cell):
        return cell[1][-1]


class Set(Kind):
    """`items` holds, by canonical text, the value and the marks of its adds."""

    def empty(self, born):
        return {'items': {}, 'mark': born}

    def read(self, intent, path, refuse):
        verbs = read_verbs(intent, 'set', ['add', 'remove'], path, refuse)
        if verbs is None:
            return None
        add = read_list(self.merge['of'], verbs.get('add', []), 'set', f'{path}/add', refuse)
        remove = read_list(self.merge['of'], verbs.get('remove', []), 'set', f'{path}/remove', refuse)
        if add is None or remove is None or not is_once([canonical(one) for one in add + remove], 'set', path, refuse):
            return None
        return add, remove

    def weigh(self, op):
        return len(op[0]) + len(op[1])

    def erases(self, op):
        return len(op[1])

    def fold(self, cell, op, path, attempt):
        add, remove = op
        items, is_changed = dict(cell['items']), False
        for at, value in enumerate(remove):
            key = canonical(value)
            if key not in items:
                attempt.note(f'{path}/remove/{at}', 'unchanged')
                continue
            marks = items[key][1]
            unseen = [mark for mark in marks if not attempt.sees(mark)]
            if unseen:
                attempt.note(f'{path}/remove/{at}', 'superseded', by=unseen[0].agent, value=excerpt(value))
            if len(unseen) < len(marks):
                is_changed = True
                if unseen:
                    items[key] = (value, unseen)
                else:
                    del items[key]
        for at, value in enumerate(add):
            key = canonical(value)
            if key in items:
                attempt.note(f'{path}/add/{at}', 'unchanged')
            marks = items[key][1] if key in items else []
            unseen = [mark for mark in marks if not attempt.sees(mark)]
            items[key] = (value, unseen + [trusted_to(attempt.mark, least_trust(marks))])
            is_changed = True
        if len(items) > self.merge['cap'] and len(items) > len(cell['items']):
            attempt.refuse(path, 'bound', 'set', 'change', have=len(cell['items']), want={'add': len(add)})
            return cell
        return {'items': items, 'mark': affirmed(cell['mark'], attempt.mark)} if is_changed else cell

    def json(self, cell):
        return [cell['items'][key][0] for key in sorted(cell['items'], key=units)]

    def texts(self, cell):
        return {key: canonical([value, [mark_json(one) for one in marks]]) for key, (value, marks) in cell['items'].items()}

    def encode(self, cell):
        texts = self.texts(cell)
        items = ','.join(texts[key] for key in sorted(texts, key=units))
        return f'{{"items":[{items}],"mark":{canonical(mark_json(cell["mark"]))}}}'

    def digest(self, cell):
        texts = self.texts(cell)
        return leaf(f'["{trie_digest(texts)}",{canonical(mark_json(cell["mark"]))}]')

    def child(self, cell, token):
        found = cell['items'].get(canonical(token)) or cell['items'].get(token)
        return None if found is None else (Element(), found)


def read_list(schema, value, rule, path, refuse):
    if not isinstance(value, list):
        refuse(path, 'schema', rule, 'change', want=value)
        return None
    return value if all(has_type(schema, one, rule, f'{path}/{at}', refuse) for at, one in enumerate(value)) else None


def is_once(names, rule, path, refuse):
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        refuse(path, 'schema', rule, 'change', want=twice)
    return twice is None


NO_GRAVES = {'young': {}, 'old': {}, 'turned': 0, 'floor': 0}


class Map(Kind):
    def __init__(self, merge):
        super().__init__(merge)
        self.below = kind_of(merge['of'])

    def empty(self, born):
        return {'live': {}, 'graves': NO_GRAVES, 'pasts': {}, 'mark': born, 'born': born}

    def read(self, intent, path, refuse):
        verbs = read_verbs(intent, 'map', ['at', 'drop'], path, refuse)
        if verbs is None:
            return None
        drop = read_list(self.merge['keys'], verbs.get('drop', []), 'map key', f'{path}/drop', refuse)
        changes, at = verbs.get('at', {}), []
        if not isinstance(changes, dict):
            refuse(path, 'schema', 'map', 'change', want=changes)
            return None
        for key in in_order(changes):
            place = f'{path}/{escaped(key)}'
            is_key = has_type(self.merge['keys'], key, 'map key', place, refuse)
            at.append((key, self.below.read(changes[key], place, refuse) if is_key else None))
        if drop is None or any(op is None for _, op in at):
            return None
        return (at, drop) if not drop or is_once(drop + [key for key, _ in at], 'map', path, refuse) else None

    def weigh(self, op):
        return len(op[1]) + sum(self.below.weigh(one) for _, one in op[0])

    def erases(self, op):
        return len(op[1]) + sum(self.below.erases(one) for _, one in op[0])

    def grave(self, graves, key):
        known = graves['young'].get(key) or graves['old'].get(key)
        return known if known is not None or graves['floor'] == 0 else Mark('', 0, graves['floor'], None, None)

    def fold(self, cell, op, path, attempt):
        at, drop = op
        live, graves, pasts, is_changed, is_new = dict(cell['live']), cell['graves'], dict(cell['pasts']), False, False
        for key in drop:
            place = f'{path}/{escaped(key)}'
            if key not in live:
                attempt.note(place, 'unchanged')
                continue
            if not all(attempt.may_write(place, meta) for meta in restrictions(self.merge['of'])):
                continue
            newest = self.below.newest(live[key])
            if not attempt.saw_all(newest):
                by = blocker(newest, attempt.agent)
                value = excerpt(self.below.json(live[key]))
                attempt.note(place, 'superseded', by='' if by is ABSENT else by, value=value)
                continue
            is_changed = is_new = True
            del live[key]
            pasts.pop(key, None)
            graves = with_grave(graves, key, attempt.mark, attempt.horizon)
        for key, one in at:
            place = f'{path}/{escaped(key)}'
            if not attempt.may_write(place, self.merge['of']):
                continue
            before = live.get(key)
            past = (self.grave(graves, key) or cell['born']) if before is None else pasts.get(key)
            if not attempt.sees(past):
                attempt.refuse(place, 'gone', 'map', 're-read', by=blocker(past, attempt.agent))
                continue
            start = self.below.empty(past) if before is None else before
            after = self.below.fold(start, one, place, attempt)
            if before is None and after is start and self.below.json(start) not in (None, [], {}):
                after = self.below.empty(summed(past, attempt.mark))
            if after is start:
                continue
            is_new = True
            is_changed = is_changed or self.below.newest(after) is not self.below.newest(start)
            live[key] = after
            if before is None:
                graves = without_grave(graves, key)
            if past is not None:
                pasts.pop(key, None)
                if past.revision > attempt.horizon:
                    pasts[key] = past
        if len(live) > self.merge['cap'] and len(live) > len(cell['live']):
            attempt.refuse(path, 'bound', 'map', 'change', have=len(cell['live']), want=len(live))
            return cell
        if not is_new:
            return cell
        mark = affirmed(cell['mark'], attempt.mark) if is_changed else cell['mark']
        return {'live': live, 'graves': graves, 'pasts': pasts, 'mark': mark, 'born': cell['born']}

    def expire(self, cell, tokens, event, mark):
        before = cell['live'].get(tokens[0]) if tokens else None
        after = before if before is None else self.below.expire(before, tokens[1:], event, mark)
        if after is before:
            return cell
        return {**cell, 'live': {**cell['live'], tokens[0]: after}, 'mark': affirmed(cell['mark'], mark)}

    def json(self, cell):
        return {key: self.below.json(one) for key, one in cell['live'].items()}

    def encode(self, cell):
        live = ','.join(f'{canonical(key)}:{self.below.encode(cell["live"][key])}' for key in sorted(cell['live'], key=units))
        graves = {**cell['graves'], 'young': marks_json(cell['graves']['young']), 'old': marks_json(cell['graves']['old'])}
        born, mark = (canonical(mark_json(cell[one])) for one in ('born', 'mark'))
        head = f'{{"born":{born},"graves":{canonical(graves)},"live":{{{live}}}'
        return f'{head},"mark":{mark},"pasts":{canonical(marks_json(cell["pasts"]))}}}'

    def digest(self, cell):
        live = trie_digest({key: self.below.encode(one) for key, one in cell['live'].items()})
        pasts = f'"{trie_digest(mark_texts(cell["pasts"]))}",' if cell['pasts'] else ''
        mark, born = (canonical(mark_json(cell[one])) for one in ('mark', 'born'))
        return leaf(f'["{live}",{remembered(cell["graves"])},{pasts}{mark},{born}]')

    def settle(self, cell, path, evict):
        settled = {key: self.below.settle(one, f'{path}/{escaped(key)}', evict) for key, one in cell['live'].items()}
        return {**cell, 'live': settled}

    def child(self, cell, token):
        known = cell['live'].get(token)
        return self.below, self.below.empty(self.grave(cell['graves'], token) or cell['born']) if known is None else known


def with_grave(graves, key, mark, horizon):
    is_spent = graves['turned'] <= horizon and mark.revision > graves['turned']
    is_full = len(graves['young']) >= 1024 and mark.revision > graves['turned']
    if not is_spent and not is_full:
        return {**graves, 'young': {**graves['young'], key: mark}}
    floor = graves['floor'] if is_spent or not graves['old'] else graves['turned']
    return {'young': {key: mark}, 'old': graves['young'], 'turned': mark.revision, 'floor': floor}


def without_grave(graves, key):
    young, old = ({one: mark for one, mark in graves[part].items() if one != key} for part in ('young', 'old'))
    return {**graves, 'young': young, 'old': old}


def remembered(graves):
    young, old = (trie_digest(mark_texts(graves[part])) for part in ('young', 'old'))
    return f'"{young}","{old}",{graves["turned"]},{graves["floor"]}'


def marks_json(marks):
    return {key: mark_json(mark) for key, mark in marks.items()}


def mark_texts(marks):
    return {key: canonical(mark_json(mark)) for key, mark in marks.items()}


def restrictions(merge):
    """Who may write a thing and all below it."""
    return [merge] + [one for part in parts_of(merge) for one in restrictions(part)]


def parts_of(merge):
    return [merge['of']] if merge['kind'] == 'map' else list(merge.get('cells', {}).values())


class Place(NamedTuple):
    kind: Kind
    cell: object

    def newest(self):
        return self.kind.newest(self.cell)


def place_of(schema, cells, path):
    """What a path leads to, or the nearest thing above it; None when it names no field."""
    name, *tokens = tokens_of(path) or ['']
    if name not in schema.kinds:
        return None
    kind, cell = schema.kinds[name], cells[name]
    for token in tokens:
        below = kind.child(cell, token)
        if below is None:
            break
        kind, cell = below
    return Place(kind, cell)


KINDS = {
    'counter': Sum,
    'quota': Sum,
    'max': Extremum,
    'min': Extremum,
    'machine': Machine,
    'lattice': Lattice,
    'cas': Register,
    'lww': Register,
    'priority': Register,
    'group': Register,
    'derived': Derived,
    'claim': Claim,
    'set': Set,
    'map': Map,
}


def kind_of(merge):
    return KINDS[merge['kind']](merge)


def missing_in(contract):
    """The first kind of a contract that is not written here."""
    def missing(merge):
        if merge['kind'] not in KINDS or (merge['kind'] == 'group' and merge['rule'] in ('multi', 'owned')):
            return merge['kind']
        return next((one for one in map(missing, parts_of(merge)) if one is not None), None)

    found = [missing(one['x-merge']) for one in contract['properties'].values()]
    return next((one for one in found if one is not None), None)
