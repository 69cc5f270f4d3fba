"""A definition, read from its contract."""
from .canonical import canonical, sha256
from .code import CODE
from .differs import Differs
from .kinds import kind_of
from .marks import least_trust, summed, trusted_to
from .reading import fault


class Schema:
    """What a space of this definition folds by."""

    def __init__(self, contract, functions, checks):
        head = contract['x-state']
        self.names = sorted(contract['properties'])
        merges = {name: contract['properties'][name]['x-merge'] for name in self.names}
        code = {place: CODE[words] for place, words in functions.items()}
        self.kinds = {name: kind_of(merges[name], name, code) for name in self.names}
        self.meta = {name: merges[name] for name in self.names}
        self.roles = head['roles']
        self.horizon = head['horizon']
        self.agents_max = head['agentsMax']
        self.rules = [rule for rule in head['rules'] if rule['sort'] != 'protected']
        self.protections = {rule['name']: rule for rule in head['rules'] if rule['sort'] == 'protected'}
        self.checks = {name: CODE[words] for name, words in checks.items()}
        declaration = {
            'name': head['name'],
            'version': head['version'],
            'fields': merges,
            'roles': {role: one if 'trust' in one else one['priority'] for role, one in self.roles.items()},
            'rules': [[rule['sort'], rule['name'], rule['reads']] for rule in head['rules']],
            'horizon': self.horizon,
            'agentsMax': self.agents_max,
        }
        self.digest = sha256(canonical(declaration))
        if self.digest != head['digest']:
            raise Differs('the digest of the definition', self.digest, head['digest'])

    def views(self, cells):
        """What rules and functions read: the values, settled as the seal would leave them."""
        def ignore(path, agent, n):
            pass

        return {name: self.kinds[name].json(self.kinds[name].settle(cells[name], '', ignore)) for name in self.names}

    def start(self):
        return self.computed({name: self.kinds[name].empty(None) for name in self.names}, self.names, None)[0]

    def computed(self, cells, changed, mark):
        """The cells with what is computed from the changed fields, all that changed, and the first that cannot be."""
        views, after, more = self.views(cells), dict(cells), []
        for name in (one for one in self.names if self.meta[one]['kind'] == 'derived'):
            reads = self.meta[name]['from']
            if not set(reads) & set(changed):
                continue
            value = self.kinds[name].function(views)
            if fault(self.meta[name]['type'], value):
                return cells, changed, name
            if canonical(value) == canonical(views[name]):
                continue
            newest = None
            if mark is not None:
                trust = least_trust(self.kinds[read].newest(cells[read]) for read in reads)
                newest = trusted_to(summed(self.kinds[name].newest(cells[name]), mark), trust)
            after[name] = {'value': value, 'mark': newest}
            more.append(name)
        return after, list(changed) + more, None
