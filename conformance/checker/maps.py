"""The kind `map`."""
from .canonical import canonical, escaped, excerpt, in_order, leaf, trie_digest, units
from .graves import NO_GRAVES, grave_of, graves_json, remembered, with_grave, without_grave
from .kind import Kind
from .marks import ABSENT, affirmed, blocker, mark_json, mark_texts, marks_json, summed
from .reading import has_type, is_once, read_list, read_verbs


class Map(Kind):
    def __init__(self, merge, below, function):
        super().__init__(merge, below, function)
        self.below = below(merge['of'], '*')

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

    def aims(self, cell, op, path):
        at, drop = op
        found = []
        for key, one in [(key, None) for key in drop] + at:
            place, known = f'{path}/{escaped(key)}', cell['live'].get(key)
            if known is None or one is None:
                found.append((place, ABSENT if known is None else self.below.json(known)))
            else:
                found += self.below.aims(known, one, place)
        return found

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
            if not self.below.may_drop(live[key], place, attempt):
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
            past = (grave_of(graves, key) or cell['born']) if before is None else pasts.get(key)
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

    def may_drop(self, cell, path, attempt):
        live = cell['live']
        return all(self.below.may_drop(live[key], f'{path}/{escaped(key)}', attempt) for key in sorted(live, key=units))

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
        graves = graves_json(cell['graves'])
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
        return self.below, self.below.empty(grave_of(cell['graves'], token) or cell['born']) if known is None else known


def restrictions(merge):
    """Who may write a thing and all below it."""
    return [merge] + [one for part in parts_of(merge) for one in restrictions(part)]


def parts_of(merge):
    return [merge['of']] if merge['kind'] == 'map' else list(merge.get('cells', {}).values())
