"""Sets: `set`, `grow-set`, `top-k`, `remove-wins`."""
from .canonical import canonical, escaped, excerpt, leaf, ordered_digest, trie_digest, units
from .graves import NO_GRAVES, grave_of, graves_json, remembered, with_grave
from .kind import Kind
from .marks import ABSENT, Mark, affirmed, blocker, least_trust, mark_json, sort_key, trusted_to
from .reading import is_once, read_list, read_verbs


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
        verbs = read_verbs(intent, self.name, ['add', 'remove'], path, refuse)
        if verbs is None:
            return None
        add = read_list(self.merge['of'], verbs.get('add', []), self.name, f'{path}/add', refuse)
        remove = read_list(self.merge['of'], verbs.get('remove', []), self.name, f'{path}/remove', refuse)
        if add is None or remove is None or not is_once([canonical(one) for one in add + remove], self.name, path, refuse):
            return None
        return add, remove

    def weigh(self, op):
        return len(op[0]) + len(op[1])

    def erases(self, op):
        return len(op[1])

    def aims(self, cell, op, path):
        return listed(op[0] + op[1], cell, path)

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
            items[key] = with_add(items.get(key), value, attempt)
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

    def aims(self, cell, add, path):
        return listed(add, cell, path)

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

    def aims(self, cell, add, path):
        return [(path, self.json(cell))]

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


class RemoveWins(Set):
    """`items` as in a set; `graves` holds, by canonical text, the marks of the removes of a value, also while it stands."""

    def empty(self, born):
        return {'items': {}, 'graves': NO_GRAVES, 'mark': born, 'born': born}

    def fold(self, cell, op, path, attempt):
        add, remove = op
        if not attempt.sees(cell['born']):
            attempt.refuse(path, 'gone', 'remove-wins', 're-read', by=blocker(cell['born'], attempt.agent))
            return cell
        items, graves = dict(cell['items']), cell['graves']
        for at, value in enumerate(remove):
            key = canonical(value)
            unseen = [mark for mark in items.pop(key, (value, []))[1] if not attempt.sees(mark)]
            if unseen:
                attempt.note(f'{path}/remove/{at}', 'merged', over={'agent': unseen[-1].agent, 'n': unseen[-1].n})
            kept = [one for one in removes_of(graves, key) if one.agent != attempt.agent and one.revision > attempt.horizon]
            graves = with_grave(graves, key, kept + [attempt.mark], attempt.horizon)
        for at, value in enumerate(add):
            key, place = canonical(value), f'{path}/add/{at}'
            unseen, is_there = [one for one in removes_of(graves, key) if not attempt.sees(one)], key in items
            if not unseen:
                items[key] = with_add(items.get(key), value, attempt)
            if is_there:
                attempt.note(place, 'unchanged')
            elif unseen and unseen[-1].agent == '':
                attempt.refuse(place, 'conflict', 'remove-wins', 're-read', want=value)
            elif unseen:
                attempt.note(place, 'superseded', by=unseen[-1].agent, value=None)
        if len(items) > self.merge['cap'] and len(items) > len(cell['items']):
            attempt.refuse(path, 'bound', 'remove-wins', 'change', have=len(cell['items']), want={'add': len(add)})
            return cell
        if items == cell['items'] and graves is cell['graves']:
            return cell
        return {**cell, 'items': items, 'graves': graves, 'mark': affirmed(cell['mark'], attempt.mark)}

    def encode(self, cell):
        texts = self.texts(cell)
        items = ','.join(texts[key] for key in sorted(texts, key=units))
        born, mark = (canonical(mark_json(cell[one])) for one in ('born', 'mark'))
        return f'{{"born":{born},"graves":{canonical(graves_json(cell["graves"]))},"items":[{items}],"mark":{mark}}}'

    def digest(self, cell):
        mark, born = (canonical(mark_json(cell[one])) for one in ('mark', 'born'))
        return leaf(f'["{trie_digest(self.texts(cell))}",{remembered(cell["graves"])},{mark},{born}]')

    def child(self, cell, token):
        return None


def listed(values, cell, path):
    """Each value at the path of its element, where it stands."""
    tokens = [(value, value if isinstance(value, str) else canonical(value)) for value in values]
    return [(f'{path}/{escaped(token)}', value if canonical(value) in cell['items'] else ABSENT) for value, token in tokens]


def removes_of(graves, key):
    """The removes of a value that are remembered; one by nobody where some may have been forgotten."""
    known = grave_of(graves, key)
    return [] if known is None else [known] if isinstance(known, Mark) else known


def with_add(element, value, attempt):
    """The element with one more add, in place of those that it has seen; trusted no more than they were."""
    marks = [] if element is None else element[1]
    unseen = [mark for mark in marks if not attempt.sees(mark)]
    return value, unseen + [trusted_to(attempt.mark, least_trust(marks))]
