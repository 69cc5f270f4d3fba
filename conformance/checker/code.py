"""What stands in `functions` and `checks` of the fixtures in words, written again. A check says whether it holds, or gives issues with their path."""

CODE = {
    'keep the three greatest different updates, in descending order': lambda state, update: sorted({*state, update})[:-4:-1],
    'append the update and keep the last three': lambda state, update: [*state, update][-3:],
    'add the update': lambda state, update: state + update,
    'stock minus reserved': lambda views: views['stock'] - views['reserved'],
    'reserved is at most stock': lambda before, after: after['reserved'] <= after['stock'],
    'final does not become draft again': lambda before, after: not (before['phase'] == 'final' and after['phase'] == 'draft'),
    'nothing is erased while the phase is final': lambda before, after: after['phase'] != 'final',
}
