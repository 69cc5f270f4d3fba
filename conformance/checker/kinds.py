"""The table of the kinds, and where a path leads."""
from typing import NamedTuple

from .ballots import Vote
from .canonical import tokens_of
from .claims import Claim
from .contending import Multi
from .kind import Kind
from .logs import Log
from .maps import Map, parts_of
from .owners import Owned
from .registers import Register
from .rows import Records
from .sets import GrowSet, RemoveWins, Set, TopK
from .shares import Escrow
from .values import Derived, Extremum, Lattice, Machine, Reduce, Sum

KINDS = {
    'cas': Register,
    'claim': Claim,
    'counter': Sum,
    'derived': Derived,
    'escrow': Escrow,
    'grow-set': GrowSet,
    'lattice': Lattice,
    'log': Log,
    'lww': Register,
    'machine': Machine,
    'map': Map,
    'max': Extremum,
    'min': Extremum,
    'multi': Multi,
    'owned': Owned,
    'priority': Register,
    'quota': Sum,
    'records': Records,
    'reduce': Reduce,
    'remove-wins': RemoveWins,
    'set': Set,
    'top-k': TopK,
    'vote': Vote,
}


def kind_of(merge, place, functions):
    """The kind of a declaration. `place` is where it stands in the state, `functions` are by such places."""
    if merge['kind'] == 'group':
        return kind_of({**merge, 'kind': merge['rule']}, place, functions)
    return KINDS[merge['kind']](merge, lambda part, token: kind_of(part, f'{place}/{token}', functions), functions.get(place))


def missing_in(contract):
    """The first kind of a contract that is not written here."""
    def missing(merge):
        if merge['kind'] not in KINDS and merge['kind'] != 'group':
            return merge['kind']
        return next((one for one in map(missing, parts_of(merge)) if one is not None), None)

    found = [missing(one['x-merge']) for one in contract['properties'].values()]
    return next((one for one in found if one is not None), None)



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
