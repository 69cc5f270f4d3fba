"""The kind `records`."""
from .canonical import canonical, escaped, in_order, leaf, trie_digest, units
from .graves import NO_GRAVES, grave_of, graves_json, remembered, with_grave, without_grave
from .kind import Kind
from .maps import restrictions
from .marks import ABSENT, affirmed, blocker, mark_json
from .reading import fault, has_type, is_once, read_list, read_verbs


class Records(Kind):
    """`live` holds rows by id; a row its cells by name."""

    def __init__(self, merge, below, function):
        super().__init__(merge, below, function)
        self.cells = {name: below(one, name) for name, one in sorted(merge['cells'].items())}

    def empty(self, born):
        return {'live': {}, 'graves': NO_GRAVES, 'mark': born, 'born': born}

    def read(self, intent, path, refuse):
        verbs = read_verbs(intent, 'records', ['add', 'put', 'patch', 'drop'], path, refuse)
        if verbs is None:
            return None
        put = self.read_rows(verbs.get('put', {}), path, refuse)
        patch = self.read_rows(verbs.get('patch', {}), path, refuse)
        drop = read_list(self.merge['ids'], verbs.get('drop', []), 'record id', f'{path}/drop', refuse)
        add = verbs.get('add', [])
        if isinstance(add, list):
            add = [self.read_row(one, f'{path}/add/{at}', refuse) for at, one in enumerate(add)]
        else:
            refuse(path, 'schema', 'records', 'change', want=add)
            add = [None]
        if None in (put, patch, drop) or None in add:
            return None
        ids = drop + [key for key, _ in put + patch]
        return (add, put, patch, drop) if is_once(ids, 'records', path, refuse) else None

    def read_rows(self, given, path, refuse):
        if not isinstance(given, dict):
            refuse(path, 'schema', 'records', 'change', want=given)
            return None
        rows = []
        for key in in_order(given):
            place = f'{path}/{escaped(key)}'
            is_id = has_type(self.merge['ids'], key, 'record id', place, refuse)
            rows.append((key, self.read_row(given[key], place, refuse) if is_id else None))
        return None if any(row is None for _, row in rows) else rows

    def read_row(self, given, path, refuse):
        if given != {} and read_verbs(given, 'records', list(self.cells), path, refuse) is None:
            return None
        row = [(name, self.cells[name].read(given[name], f'{path}/{name}', refuse)) for name in in_order(given)]
        return None if any(op is None for _, op in row) else row

    def weigh(self, op):
        add, put, patch, drop = op
        rows = add + [row for _, row in put + patch]
        return len(drop) + sum(max(1, sum(self.cells[name].weigh(one) for name, one in row)) for row in rows)

    def erases(self, op):
        _, put, patch, drop = op
        return len(drop) + sum(self.cells[name].erases(one) for _, row in put + patch for name, one in row)

    def aims(self, cell, op, path):
        _, put, patch, drop = op
        found = []
        for key, row in [(key, []) for key in drop] + put + patch:
            place, known = f'{path}/{escaped(key)}', cell['live'].get(key)
            if known is None or not row:
                found.append((place, ABSENT if known is None else self.row_json(known)))
            else:
                found += [aim for name, one in row for aim in self.cells[name].aims(known['cells'][name], one, f'{place}/{name}')]
        return found

    def fold_row(self, row, op, path, attempt):
        cells, is_changed, is_new = dict(row['cells']), False, False
        for name, one in op:
            place = f'{path}/{name}'
            if not attempt.may_write(place, self.merge['cells'][name]):
                continue
            kind, before = self.cells[name], row['cells'][name]
            after = kind.fold(before, one, place, attempt)
            if after is before:
                continue
            is_new = True
            is_changed = is_changed or kind.newest(after) is not kind.newest(before)
            cells[name] = after
        mark = affirmed(row['mark'], attempt.mark) if is_changed else row['mark']
        return {**row, 'cells': cells, 'mark': mark} if is_new else row

    def fold(self, cell, op, path, attempt):
        add, put, patch, drop = op
        live, graves = dict(cell['live']), cell['graves']
        is_changed = is_new = False

        def refuse(place, code, mark, **shown):
            attempt.refuse(place, code, 'records', 're-read', by=blocker(mark, attempt.agent), **shown)

        def change(key, row, one, place):
            nonlocal is_changed, is_new
            known, after = live.get(key), self.fold_row(row, one, place, attempt)
            if after is known:
                if not one:
                    attempt.note(place, 'unchanged')
                return
            is_new = True
            is_changed = is_changed or known is None or after['mark'] is not known['mark']
            live[key] = after

        def begin(key, one, place):
            nonlocal graves
            past = grave_of(graves, key) or cell['born']
            cells = {name: kind.empty(None) for name, kind in self.cells.items()}
            change(key, {'birth': attempt.mark, 'past': past, 'mark': attempt.mark, 'cells': cells}, one, place)
            graves = without_grave(graves, key)

        for key in drop:
            place, row = f'{path}/{escaped(key)}', live.get(key)
            if row is None:
                attempt.note(place, 'unchanged')
            elif not attempt.sees(row['birth']):
                refuse(place, 'gone', row['birth'])
            elif not attempt.saw_all(row['mark']):
                refuse(place, 'conflict', row['mark'], have=self.row_json(row), want=None)
            elif all(attempt.may_write(place, meta) for one in self.merge['cells'].values() for meta in restrictions(one)):
                if not self.may_drop_row(row, place, attempt):
                    continue
                is_changed = is_new = True
                del live[key]
                graves = with_grave(graves, key, attempt.mark, attempt.horizon)
        for at, one in enumerate(add):
            key, place = f'{attempt.agent}-{attempt.n}-{at}', f'{path}/add/{at}'
            if fault(self.merge['ids'], key) is not None:
                attempt.refuse(place, 'schema', 'records', 'change', want=key)
            elif key in live:
                refuse(place, 'conflict', live[key]['birth'], have=key, want=key)
            else:
                begin(key, one, f'{path}/{escaped(key)}')
            attempt.note(place, 'merged', id=key)
        for key, one in put:
            place, row = f'{path}/{escaped(key)}', live.get(key)
            grave = (grave_of(graves, key) or cell['born']) if row is None else row['past']
            if (row is None or not attempt.sees(row['birth'])) and not attempt.sees(grave):
                refuse(place, 'gone', grave)
            elif row is None:
                begin(key, one, place)
            else:
                change(key, row, one, place)
        for key, one in patch:
            place, row = f'{path}/{escaped(key)}', live.get(key)
            if row is None and attempt.sees(grave_of(graves, key)):
                attempt.refuse(place, 'gone', 'records', 'change')
            elif row is None:
                refuse(place, 'gone', grave_of(graves, key))
            elif not attempt.sees(row['birth']):
                refuse(place, 'gone', row['birth'])
            else:
                change(key, row, one, place)
        if len(live) > self.merge['cap'] and len(live) > len(cell['live']):
            attempt.refuse(path, 'bound', 'records', 'change', have=len(cell['live']), want=len(live))
            return cell
        mark = affirmed(cell['mark'], attempt.mark) if is_changed else cell['mark']
        return {'live': live, 'graves': graves, 'mark': mark, 'born': cell['born']} if is_new else cell

    def settle(self, cell, path, evict):
        def settled(key, row):
            place = f'{path}/{escaped(key)}'
            cells = {name: kind.settle(row['cells'][name], f'{place}/{name}', evict) for name, kind in self.cells.items()}
            return {**row, 'cells': cells}
        return {**cell, 'live': {key: settled(key, row) for key, row in cell['live'].items()}}

    def may_drop_row(self, row, path, attempt):
        return all([kind.may_drop(row['cells'][name], f'{path}/{name}', attempt) for name, kind in self.cells.items()])

    def may_drop(self, cell, path, attempt):
        live = cell['live']
        return all(self.may_drop_row(live[key], f'{path}/{escaped(key)}', attempt) for key in sorted(live, key=units))

    def expire(self, cell, tokens, event, mark):
        row = cell['live'].get(tokens[0]) if tokens else None
        name = tokens[1] if len(tokens) > 1 else None
        if row is None or name not in self.cells:
            return cell
        after = self.cells[name].expire(row['cells'][name], tokens[2:], event, mark)
        if after is row['cells'][name]:
            return cell
        changed = {**row, 'cells': {**row['cells'], name: after}, 'mark': affirmed(row['mark'], mark)}
        return {**cell, 'live': {**cell['live'], tokens[0]: changed}, 'mark': affirmed(cell['mark'], mark)}

    def row_json(self, row):
        return {name: kind.json(row['cells'][name]) for name, kind in self.cells.items()}

    def json(self, cell):
        return {key: self.row_json(row) for key, row in cell['live'].items()}

    def row_text(self, row):
        cells = ','.join(f'{canonical(name)}:{kind.encode(row["cells"][name])}' for name, kind in self.cells.items())
        birth, mark, past = (canonical(mark_json(row[one])) for one in ('birth', 'mark', 'past'))
        return f'{{"birth":{birth},"cells":{{{cells}}},"mark":{mark},"past":{past}}}'

    def encode(self, cell):
        live = ','.join(f'{canonical(key)}:{self.row_text(cell["live"][key])}' for key in sorted(cell['live'], key=units))
        graves = graves_json(cell['graves'])
        born, mark = (canonical(mark_json(cell[one])) for one in ('born', 'mark'))
        return f'{{"born":{born},"graves":{canonical(graves)},"live":{{{live}}},"mark":{mark}}}'

    def digest(self, cell):
        live = trie_digest({key: self.row_text(row) for key, row in cell['live'].items()})
        mark, born = (canonical(mark_json(cell[one])) for one in ('mark', 'born'))
        return leaf(f'["{live}",{remembered(cell["graves"])},{mark},{born}]')

    def child(self, cell, token):
        row = cell['live'].get(token)
        return (Gone(), grave_of(cell['graves'], token) or cell['born']) if row is None else (Row(self), row)


class Gone(Kind):
    """The place of a row that is not there: its newest change is its drop."""

    def __init__(self):
        super().__init__({'kind': 'gone'})

    def newest(self, cell):
        return cell


class Row(Kind):
    """The place of a row."""

    def __init__(self, records):
        super().__init__({'kind': 'row'})
        self.records = records

    def child(self, cell, token):
        kind = self.records.cells.get(token)
        return None if kind is None else (CellOfRow(kind, token), cell)


class CellOfRow(Kind):
    """The place of a cell in a row: as new as the row until it is written."""

    def __init__(self, kind, token):
        super().__init__({'kind': 'cell'})
        self.kind, self.token = kind, token

    def newest(self, cell):
        return self.kind.newest(cell['cells'][self.token]) or cell['birth']

    def child(self, cell, token):
        return self.kind.child(cell['cells'][self.token], token)
