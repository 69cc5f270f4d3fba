"""Judging one proposal."""
from .canonical import clipped, escaped, excerpt, in_order
from .kinds import place_of
from .marks import ABSENT, TRUST_MAX, Mark, blocker, least_trust


class Attempt:
    """One proposal being judged, the `turn`-th of its round from 0. `cells` are what stands before it."""

    def __init__(self, space, cells, proposal, stamp, record, revision, turn):
        self.schema, self.proposal, self.stamp, self.revision = space.schema, proposal, stamp, revision
        self.turn = turn
        self.agent, self.n, self.role = proposal['agent'], proposal['n'], record['role']
        self.base = proposal['base']['revision']
        self.vector = proposal['base'].get('vector')
        self.horizon = space.oldest_base()
        self.space, self.cells = space, cells
        self.issues, self.outcomes, self.mark = [], {}, Mark(self.agent, self.n, revision, None, None)

    def sees(self, mark):
        if mark is None or mark.revision <= self.base:
            return True
        if mark.agent == self.agent:
            return mark.n < self.n
        return self.vector is not None and mark.agent != '' and self.vector.get(mark.agent, 0) >= mark.n

    def saw_all(self, mark):
        if mark is None or mark.revision <= self.base:
            return True
        return mark.agent == self.agent and mark.n < self.n and (mark.foreign or ('', 0))[1] <= self.base

    def refuse(self, path, code, rule, recovery, **shown):
        shown = {key: excerpt(value) for key, value in shown.items() if value is not ABSENT}
        self.issues.append({'path': clipped(path, 512), 'code': code, 'rule': rule, 'recovery': recovery, **shown})

    def note(self, path, kind, **more):
        self.outcomes[path] = {'kind': kind, **more}

    def may_write(self, path, meta):
        writers = meta.get('writers')
        if writers is None or self.role in writers:
            return True
        self.refuse(path, 'forbidden', 'writers', 'stop', have=self.role, want=', '.join(writers))
        return False

    def judge(self):
        """The cells after the proposal, or None when it is refused."""
        if self.has_base():
            self.read_premises()
            after, changed, erased = self.fold()
            if not self.issues:
                after, changed, faulty = self.schema.computed(after, changed, self.mark)
                if faulty is None:
                    self.ask_rules(after, changed, erased)
                else:
                    self.refuse('/' + faulty, 'derived', 'derived', 'change')
                if not self.issues:
                    return after
        return None

    def has_base(self):
        own = self.schema.digest[:16]
        if self.proposal['schema'] != own:
            self.refuse('/schema', 'protocol', 'schema digest', 'stop', have=own, want=self.proposal['schema'])
        elif self.base >= self.revision:
            self.refuse('/base', 'unknown_base', 'base', 're-read', have=self.revision - 1, want=self.base)
        elif self.base < self.revision - 1 - self.schema.horizon or (
            self.base < self.stamp.depth - 1 and self.base < self.horizon
        ):
            self.refuse('/base', 'stale_base', 'horizon', 're-read', have=self.horizon, want=self.base)
            self.show_aims()
        else:
            held = {name: record['n'] for name, record in self.space.agents.items()}
            held[self.agent] = self.n - 1
            ahead = [f'{name} {n}' for name, n in (self.vector or {}).items() if n > held.get(name, 0)]
            if not ahead:
                return True
            self.refuse('/base/vector', 'unknown_base', 'vector', 're-read', want=', '.join(ahead))
        return False

    def show_aims(self):
        """What stands now where the patch aims; what cannot be read is not shown."""
        patch, weight = self.proposal['patch'], 0
        for name in in_order(patch):
            kind = self.schema.kinds.get(name)
            if kind is None or self.role not in self.schema.meta[name].get('writers', [self.role]):
                continue
            path = '/' + escaped(name)
            op = kind.read(patch[name], path, lambda *_, **__: None)
            if op is None:
                continue
            weight += kind.weigh(op)
            if weight > 64:
                return
            for place, value in kind.aims(self.cells[name], op, path):
                self.refuse(place, 'stale_base', 'horizon', 're-read', have=value)

    def read_premises(self):
        trust = self.schema.roles[self.role].get('trust', TRUST_MAX)
        for path in self.proposal.get('premises', []):
            place = place_of(self.schema, self.cells, path)
            if place is None:
                self.refuse(path, 'schema', 'premise', 'change')
                continue
            mark = place.newest()
            trust = min(trust, least_trust([mark]))
            if not self.saw_all(mark):
                self.refuse(path, 'premise', 'premise', 're-read', by=blocker(mark, self.agent))
        if trust < TRUST_MAX:
            self.mark = self.mark._replace(trust=trust)

    def fold(self):
        after, changed, erased, weight = dict(self.cells), [], [], 0
        patch = self.proposal['patch']
        if not patch and 'action' not in self.proposal and 'premises' not in self.proposal:
            self.refuse('', 'schema', 'patch', 'change')
        for name in in_order(patch):
            path = '/' + escaped(name)
            kind = self.schema.kinds.get(name)
            if kind is None:
                self.refuse(path, 'schema', 'patch', 'change')
                continue
            if not self.may_write(path, self.schema.meta[name]):
                continue
            op = kind.read(patch[name], path, self.refuse)
            if op is None:
                continue
            weight += kind.weigh(op)
            if weight > 64:
                continue
            count, most = kind.erases(op), self.schema.meta[name].get('eraseMax')
            if count > 0:
                erased.append(name)
            if most is not None and count > most:
                self.refuse(path, 'protected', 'eraseMax', 'change', have=most, want=count)
                continue
            cell = kind.fold(self.cells[name], op, path, self)
            if cell is not self.cells[name]:
                after[name] = cell
                changed.append(name)
        if weight > 64:
            self.refuse('', 'schema', 'patch', 'change', have=64, want=weight)
        return after, changed, erased

    def ask_rules(self, after, changed, erased):
        if not changed:
            return
        protections = self.schema.protections
        guards = [protections[name] for name in erased if name in protections]
        for rule in guards + self.schema.rules:
            if rule['sort'] != 'protected' and not set(rule['reads']) & set(changed):
                continue
            said = self.schema.checks[rule['name']](self.schema.views(self.cells), self.schema.views(after))
            own = {'path': '/' + rule['name'] if rule['sort'] == 'protected' else ''}
            recovery = 'change' if self.base == self.revision - 1 else 're-read'
            for issue in [] if said is True else [own] if said is False else said:
                self.refuse(issue['path'], rule['sort'], rule['name'], recovery, **shown_in(issue))


def shown_in(issue):
    return {key: issue[key] for key in ('have', 'want') if key in issue}
