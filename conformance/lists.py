"""Ordered maps, and the kinds `grow-set`, `log` and `top-k`, as docs/wire-format.md describes them."""
from kinds import KINDS, Kind, affirmed, canonical, excerpt, is_once, leaf, mark_json, mix, read_list, read_one, read_verbs
from kinds import SAFE_MAX, sha256, trie_digest, units


def ordered_digest(texts):
    """`texts` holds the text of every value by its key."""
    if not texts:
        return ''
    top = min(texts, key=lambda key: (-mix(0x811C9DC5, key), units(key)))
    lesser = {key: text for key, text in texts.items() if units(key) < units(top)}
    greater = {key: text for key, text in texts.items() if units(key) > units(top)}
    return sha256(f'["{ordered_digest(lesser)}",{canonical(top)},{texts[top]},"{ordered_digest(greater)}"]')


def sort_key(number):
    return f'0{number + SAFE_MAX:016}' if number < 0 else f'1{number:016}'


def stamp_key(stamp):
    numbers = ''.join(sort_key(one) for one in (stamp.depth, stamp.priority, stamp.spin))
    return f'{numbers}{stamp.agent},{sort_key(stamp.n)}'


class GrowSet(Kind):
    """`items` holds the values by canonical text."""

    def empty(self, born):
        return {'items': {}, 'mark': born}

    def read(self, intent, path, refuse):
        verbs = read_verbs(intent, self.name, ['add'], path, refuse)
        if verbs is None:
            return None
        add = read_list(self.merge['of'], verbs['add'], self.name, f'{path}/add', refuse)
        return add if add is not None and is_once([canonical(one) for one in add], self.name, path, refuse) else None

    def weigh(self, op):
        return len(op)

    def fold(self, cell, add, path, attempt):
        items = dict(cell['items'])
        for at, value in enumerate(add):
            if canonical(value) in items:
                attempt.note(f'{path}/add/{at}', 'unchanged')
            items.setdefault(canonical(value), value)
        if len(items) == len(cell['items']):
            return cell
        if len(items) > self.merge['cap']:
            attempt.refuse(path, 'bound', self.name, 'change', have=len(cell['items']), want={'add': len(add)})
            return cell
        return {'items': items, 'mark': affirmed(cell['mark'], attempt.mark)}

    def json(self, cell):
        return [cell['items'][key] for key in sorted(cell['items'], key=units)]

    def encode(self, cell):
        return canonical({'items': self.json(cell), 'mark': mark_json(cell['mark'])})

    def digest(self, cell):
        texts = {key: canonical(value) for key, value in cell['items'].items()}
        return leaf(f'["{trie_digest(texts)}",{canonical(mark_json(cell["mark"]))}]')


class TopK(GrowSet):
    """`items` holds the values by their sort key; `asked` what this round adds, until it is settled."""

    def empty(self, born):
        return {'items': {}, 'mark': born, 'asked': []}

    def key_of(self, value):
        return sort_key(value[self.merge['by']]) + canonical(value)

    def fold(self, cell, add, path, attempt):
        items, asked = dict(cell['items']), list(cell['asked'])
        for at, value in enumerate(add):
            key = self.key_of(value)
            if key in items:
                attempt.note(f'{path}/add/{at}', 'unchanged')
            items = self.greatest({**items, key: value})
            asked.append((key, at, attempt.agent, attempt.n))
        if not add:
            return cell
        mark = cell['mark'] if set(items) == set(cell['items']) else affirmed(cell['mark'], attempt.mark)
        return {'items': items, 'mark': mark, 'asked': asked}

    def greatest(self, items):
        return {key: items[key] for key in sorted(items, key=units, reverse=True)[:self.merge['k']]}

    def settle(self, cell, path, evict):
        for key, at, agent, n in cell['asked']:
            if key not in cell['items']:
                evict(f'{path}/add/{at}', agent, n)
        return {**cell, 'asked': []}

    def json(self, cell):
        return [cell['items'][key] for key in sorted(cell['items'], key=units, reverse=True)]

    def digest(self, cell):
        entries = ordered_digest({key: 'null' for key in cell['items']})
        return leaf(f'["{entries}",{canonical(mark_json(cell["mark"]))}]')


class Log(Kind):
    """`entries` holds `(value, stamp, at)` by sort key."""

    def empty(self, born):
        return {'entries': {}, 'dropped': 0, 'spilled': None, 'mark': born}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'log', ['append'], path, refuse)
        return None if read is None else read_list(self.merge['of'], read[1], 'log', f'{path}/append', refuse)

    def weigh(self, op):
        return len(op)

    def id_of(self, value):
        return canonical(value if self.merge['id'] == 'self' else value[self.merge['id']])

    def fold(self, cell, append, path, attempt):
        entries = dict(cell['entries'])
        for at, value in enumerate(append):
            known = None
            if 'id' in self.merge:
                known = next((one for one in entries.values() if self.id_of(one[0]) == self.id_of(value)), None)
            if known is not None:
                if canonical(known[0]) == canonical(value):
                    attempt.note(f'{path}/append/{at}', 'unchanged')
                else:
                    attempt.note(f'{path}/append/{at}', 'superseded', by=known[1].agent, value=excerpt(known[0]))
                continue
            is_by_stamp = self.merge['order'] == 'stamp'
            place = stamp_key(attempt.stamp) + sort_key(at) if is_by_stamp else sort_key(cell['dropped'] + len(entries))
            entries[place] = (value, attempt.stamp, at)
        if self.merge.get('overflow') == 'reject' and len(entries) > self.merge['keep']:
            attempt.refuse(path, 'bound', 'log', 'change', have=len(cell['entries']), want={'append': len(append)})
            return cell
        if len(entries) == len(cell['entries']):
            return cell
        return {**cell, 'entries': entries, 'mark': affirmed(cell['mark'], attempt.mark)}

    def settle(self, cell, path, evict):
        keys = sorted(cell['entries'], key=units)
        surplus = keys[:max(0, len(keys) - self.merge['keep'])]
        if not surplus:
            return cell
        for key in surplus:
            _, stamp, at = cell['entries'][key]
            evict(f'{path}/append/{at}', stamp.agent, stamp.n)
        spilled = None
        if self.merge.get('overflow') == 'spill':
            spilled = sha256(canonical({'before': cell['spilled'], 'entries': [cell['entries'][key][0] for key in surplus]}))
        kept = {key: one for key, one in cell['entries'].items() if key not in surplus}
        return {'entries': kept, 'dropped': cell['dropped'] + len(surplus), 'spilled': spilled, 'mark': cell['mark']}

    def json(self, cell):
        return [cell['entries'][key][0] for key in sorted(cell['entries'], key=units)]

    def texts(self, cell):
        return {key: canonical([value, *stamp, at]) for key, (value, stamp, at) in cell['entries'].items()}

    def encode(self, cell):
        texts = self.texts(cell)
        entries = ','.join(texts[key] for key in sorted(texts, key=units))
        spilled = '' if cell['spilled'] is None else f',"spilled":"{cell["spilled"]}"'
        return f'{{"dropped":{cell["dropped"]},"entries":[{entries}],"mark":{canonical(mark_json(cell["mark"]))}{spilled}}}'

    def digest(self, cell):
        spilled = '' if cell['spilled'] is None else f',"{cell["spilled"]}"'
        mark = canonical(mark_json(cell['mark']))
        return leaf(f'["{ordered_digest(self.texts(cell))}",{cell["dropped"]},{mark}{spilled}]')


KINDS.update({'grow-set': GrowSet, 'top-k': TopK, 'log': Log})
