"""The kind `log`."""
from .canonical import canonical, excerpt, leaf, ordered_digest, sha256, units
from .kind import Kind
from .marks import affirmed, mark_json, sort_key, stamp_key
from .reading import read_list, read_one


class Log(Kind):
    """`entries` holds `(value, stamp, at)` by sort key."""

    def empty(self, born):
        return {'entries': {}, 'dropped': 0, 'spilled': None, 'mark': born}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'log', ['append'], path, refuse)
        return None if read is None else read_list(self.merge['of'], read[1], 'log', f'{path}/append', refuse)

    def weigh(self, op):
        return len(op)

    def aims(self, cell, op, path):
        return [(path, self.json(cell)[-3:])]

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
