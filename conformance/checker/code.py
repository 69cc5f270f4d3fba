"""What stands in `functions` and `checks` of the fixtures in words, written again. A check says whether it holds, or gives issues with their path."""


def told_of_both(total, count):
    return [] if total + count < 5 else [{'path': '/sum', 'have': total, 'want': {'sum': 4}}, {'path': '/count'}]


CODE = {
    'keep the three greatest different updates, in descending order': lambda state, update: sorted({*state, update})[:-4:-1],
    'append the update and keep the last three': lambda state, update: [*state, update][-3:],
    'add the update': lambda state, update: state + update,
    'stock minus reserved': lambda views: views['stock'] - views['reserved'],
    'the number of lines': lambda views: len(views['lines']),
    'the best score, or 0, minus the number of lines': lambda views: sum(one['score'] for one in views['best']) - len(views['lines']),
    'the holder of the lock, or nobody': lambda views: views['lock']['holder'] or 'nobody',
    'reserved is at most stock': lambda before, after: after['reserved'] <= after['stock'],
    'final does not become draft again': lambda before, after: not (before['phase'] == 'final' and after['phase'] == 'draft'),
    'the lock is held while busy is not 0': lambda before, after: after['busy'] == 0 or after['lock']['holder'] is not None,
    'sum and count are below 5, told of both': lambda before, after: told_of_both(after['sum'], after['count']),
    'the phase is open': lambda before, after: after['phase'] == 'open',
    'nothing is erased while the phase is final': lambda before, after: after['phase'] != 'final',
}
