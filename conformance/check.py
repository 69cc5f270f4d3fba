#!/usr/bin/env python3
"""Folds the fixtures again, by docs/wire-format.md and without the core, and compares every entry byte for byte.

Usage: python3 check.py [file ...]   without files, all fixtures beside this script.
Python 3.9 or later, its standard library alone. Hints are words for people: they are taken from the stored entries.
Ends with 1 at the first byte that differs. Fixtures of kinds that are not written here are named and left out.
"""
import json
import pathlib
import re
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
import kinds
import lists  # noqa: F401 (adds its kinds)
import rows  # noqa: F401 (adds its kinds)
from kinds import TRUST_MAX, Mark, canonical, clipped, excerpt, mix, place_of, sha256, trie_digest


class Stamp(NamedTuple):
    depth: int
    priority: int
    spin: int
    agent: str
    n: int


def admit_key(stamp):
    return (stamp.depth, -stamp.priority, stamp.spin, stamp.agent, stamp.n)


def spin(depth, agent):
    start = ((0x811C9DC5 ^ depth) & 0xFFFFFFFF) * 0x01000193 & 0xFFFFFFFF
    return mix(start, agent)


class Schema:
    """A definition, read from its contract."""

    def __init__(self, contract, functions, checks):
        head = contract['x-state']
        self.names = sorted(contract['properties'])
        merges = {name: contract['properties'][name]['x-merge'] for name in self.names}
        self.kinds = {name: kinds.kind_of(merges[name]) for name in self.names}
        self.meta = {name: merges[name] for name in self.names}
        self.roles = head['roles']
        self.horizon = head['horizon']
        self.agents_max = head['agentsMax']
        self.rules = [rule for rule in head['rules'] if rule['sort'] != 'protected']
        self.protections = {rule['name']: rule for rule in head['rules'] if rule['sort'] == 'protected'}
        self.checks = {name: CODE[words] for name, words in checks.items()}
        self.derived = {name: CODE[words] for name, words in functions.items()}
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
        return {name: self.kinds[name].json(cells[name]) for name in self.names}

    def start(self):
        return self.computed({name: self.kinds[name].empty(None) for name in self.names}, self.names, None)[0]

    def computed(self, cells, changed, mark):
        """The cells with what is computed from the changed fields, the names of all that changed, and the first that cannot be."""
        views, after, more = self.views(cells), dict(cells), []
        for name in (one for one in self.names if one in self.derived):
            reads = self.meta[name]['from']
            if not set(reads) & set(changed):
                continue
            value = self.derived[name](views)
            if kinds.fault(self.meta[name]['type'], value):
                return cells, changed, name
            if canonical(value) == canonical(views[name]):
                continue
            newest = None
            if mark is not None:
                trust = kinds.least_trust(self.kinds[read].newest(cells[read]) for read in reads)
                newest = kinds.trusted_to(kinds.summed(self.kinds[name].newest(cells[name]), mark), trust)
            after[name] = {'value': value, 'mark': newest}
            more.append(name)
        return after, list(changed) + more, None


# What stands in `functions` and `checks` in words, written again.
CODE = {
    'stock minus reserved': lambda views: views['stock'] - views['reserved'],
    'reserved is at most stock': lambda before, after: after['reserved'] <= after['stock'],
    'final does not become draft again': lambda before, after: not (before['phase'] == 'final' and after['phase'] == 'draft'),
    'nothing is erased while the phase is final': lambda before, after: after['phase'] != 'final',
}


class Attempt:
    """One proposal being judged. `cells` are what stands before it."""

    def __init__(self, space, cells, proposal, stamp, record, revision):
        self.schema, self.proposal, self.stamp, self.revision = space.schema, proposal, stamp, revision
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
        shown = {key: excerpt(value) for key, value in shown.items() if value is not kinds.ABSENT}
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
        else:
            held = {name: record['n'] for name, record in self.space.agents.items()}
            held[self.agent] = self.n - 1
            ahead = [f'{name} {n}' for name, n in (self.vector or {}).items() if n > held.get(name, 0)]
            if not ahead:
                return True
            self.refuse('/base/vector', 'unknown_base', 'vector', 're-read', want=', '.join(ahead))
        return False

    def read_premises(self):
        trust = self.schema.roles[self.role].get('trust', TRUST_MAX)
        for path in self.proposal.get('premises', []):
            place = place_of(self.schema, self.cells, path)
            if place is None:
                self.refuse(path, 'schema', 'premise', 'change')
                continue
            mark = place.newest()
            trust = min(trust, kinds.least_trust([mark]))
            if not self.saw_all(mark):
                self.refuse(path, 'premise', 'premise', 're-read', by=kinds.blocker(mark, self.agent))
        if trust < TRUST_MAX:
            self.mark = self.mark._replace(trust=trust)

    def fold(self):
        after, changed, erased, weight = dict(self.cells), [], [], 0
        patch = self.proposal['patch']
        if not patch and 'action' not in self.proposal and 'premises' not in self.proposal:
            self.refuse('', 'schema', 'patch', 'change')
        for name in kinds.in_order(patch):
            path = '/' + kinds.escaped(name)
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
            if not self.schema.checks[rule['name']](self.schema.views(self.cells), self.schema.views(after)):
                path = '/' + rule['name'] if rule['sort'] == 'protected' else ''
                recovery = 'change' if self.base == self.revision - 1 else 're-read'
                self.refuse(path, rule['sort'], rule['name'], recovery)


class Space:
    def __init__(self, name, schema):
        self.name, self.schema = name, schema
        self.revision, self.head, self.agents, self.cells = -1, '', {}, schema.start()

    def oldest_base(self):
        leased = min([self.revision] + [record['depth'] - 1 for record in self.agents.values() if record['isLive']])
        return max(0, leased, self.revision - self.schema.horizon)

    def seal(self, term, events, proposals, hints):
        """Seals one round; gives the text of its entry. `hints` are the hints of each dot that is refused."""
        revision = self.revision + 1
        agents, cells = dict(self.agents), self.cells
        members, short = [], []

        def fold_events(given):
            nonlocal agents, cells
            for event in sorted(given, key=event_key):
                after = self.after_event(agents, cells, event, not members)
                if after is None:
                    continue
                agents, cells = after
                members.append(f'{{"event":{canonical(event)}}}')
                short.append(members[-1])

        fold_events(event for event in events if event['kind'] != 'leave')
        judged = []
        for due in self.due(agents, proposals):
            attempt = Attempt(self, cells, *due[1:], revision)
            after = attempt.judge()
            cells = cells if after is None else after
            judged.append((*due, attempt, after is not None))
        cells, evicted = self.settled(cells)
        for text, proposal, stamp, record, attempt, is_accepted in judged:
            verdict = {'kind': 'committed' if is_accepted else 'rejected', 'revision': revision}
            if is_accepted:
                outcomes = {**attempt.outcomes, **evicted.get((proposal['agent'], proposal['n']), {})}
                if outcomes:
                    verdict['outcomes'] = outcomes
            else:
                words = hints.get((proposal['agent'], proposal['n']), [])
                verdict['issues'] = [{**issue, 'hint': hint} for issue, hint in zip(attempt.issues, words)]
                if all(issue['recovery'] in ('re-read', 'wait', 'claim-again') for issue in attempt.issues):
                    verdict['retry'] = {'after': revision}
            answer, digest = canonical(verdict), sha256(text)
            answered = {'digest': digest, 'verdict': verdict}
            agents[proposal['agent']] = {**record, 'n': proposal['n'], 'depth': stamp.depth, 'answered': answered}
            members.append(f'{{"proposal":{text},"verdict":{answer}}}')
            short.append(f'{{"proposal":"{digest}","verdict":{answer}}}')
        fold_events(event for event in events if event['kind'] == 'leave')
        fields = ','.join(self.schema.kinds[name].digest(cells[name]) for name in self.schema.names)
        table = trie_digest({agent: canonical(record) for agent, record in agents.items()})
        state = sha256(f'{{"agents":"{table}","fields":[{fields}],"schema":"{self.schema.digest}"}}')
        tail = f'"prev":"{self.head}","revision":{revision},"space":"{self.name}","state":"{state}","term":{term},"v":1}}'
        self.revision, self.agents, self.cells = revision, agents, cells
        self.head = sha256(f'{{"members":[{",".join(short)}],{tail}')
        return f'{{"members":[{",".join(members)}],{tail}'

    def settled(self, cells):
        """The cells settled, and by dot what fell off."""
        evicted = {}

        def evict(path, agent, n):
            evicted.setdefault((agent, n), {})[path] = {'kind': 'evicted'}

        def settle(name):
            is_changed = cells[name] is not self.cells[name]
            return self.schema.kinds[name].settle(cells[name], f'/{name}', evict) if is_changed else cells[name]

        return {name: settle(name) for name in self.schema.names}, evicted

    def after_event(self, agents, cells, event, is_first):
        kind = event['kind']
        if kind == 'genesis':
            return (agents, cells) if self.revision < 0 and is_first and event['schema'] == self.schema.digest else None
        if kind == 'expire':
            after = self.expired(cells, event)
            return None if after is None else (agents, after)
        name, record = event['agent'], agents.get(event['agent'])
        if kind == 'leave':
            if record is None or not record['isLive'] or record['incarnation'] != event['incarnation']:
                return None
            return {**agents, name: {**record, 'isLive': False}}, cells
        is_named = re.fullmatch(r'(?!(constructor|prototype)$)[a-z][a-z0-9-]{0,31}', name)
        if not is_named or not re.fullmatch(r'[A-Za-z0-9_-]{1,64}', event['session']):
            return None
        if event['role'] not in self.schema.roles or (record or {}).get('session') == event['session']:
            return None
        if record is None and len(agents) >= self.schema.agents_max:
            return None
        old = record or {'incarnation': 0, 'n': 0}
        new = {'role': event['role'], 'session': event['session'], 'isLive': True, 'depth': self.revision + 2}
        return {**agents, name: {**old, **new, 'incarnation': old['incarnation'] + 1}}, cells

    def expired(self, cells, event):
        tokens = kinds.tokens_of(event['path'])
        if not tokens or tokens[0] not in self.schema.kinds:
            return None
        name, mark = tokens[0], Mark('', 0, self.revision + 1, None, None)
        after = self.schema.kinds[name].expire(cells[name], tokens[1:], event, mark)
        if after is cells[name]:
            return None
        next_cells, changed, faulty = self.schema.computed({**cells, name: after}, [name], mark)
        if faulty is not None:
            return None
        views = self.schema.views(cells), self.schema.views(next_cells)
        woken = [one for one in self.schema.rules if one['sort'] == 'invariant' and set(one['reads']) & set(changed)]
        return next_cells if all(self.schema.checks[one['name']](*views) for one in woken) else None

    def due(self, agents, texts):
        """The proposals that are due, in admit order."""
        read_all = [(one['agent'], one['n'], text, one) for text, one in ((text, json.loads(text)) for text in set(texts))]
        given = sorted(read_all, key=lambda one: (one[0], one[1], kinds.units(one[2])))
        found, last = [], None
        for agent, n, text, proposal in given:
            record = agents.get(agent)
            is_same = last is not None and last[1]['agent'] == agent
            newest = last[1]['n'] if is_same else (record or {}).get('n', 0)
            if proposal.get('dry') or record is None or not record['isLive']:
                continue
            if record['incarnation'] != proposal['incarnation'] or n != newest + 1:
                continue
            base = proposal['base']
            read = self.revision if 'vector' in base else min(base['revision'], self.revision)
            least = (last[2].depth if is_same else record['depth']) - 1
            depth = max(least, read) + 1
            priority = self.schema.roles[record['role']]['priority']
            last = (text, proposal, Stamp(depth, priority, spin(depth, agent), agent, n), record)
            found.append(last)
        return sorted(found, key=lambda one: admit_key(one[2]))


def event_key(event):
    kind = event['kind']
    if kind == 'genesis':
        return f'0 {event["nonce"]} {event["schema"]}'
    if kind == 'join':
        return f'1 {event["agent"]} {event["session"]} {event["role"]}'
    if kind == 'expire':
        return f'2 {event["path"]} {event["token"]} {event["cause"]}'
    return f'3 {event["agent"]} {event["incarnation"]}'


class Differs(Exception):
    def __init__(self, what, have, want):
        at = next((i for i, (a, b) in enumerate(zip(have, want)) if a != b), min(len(have), len(want)))
        super().__init__(f'{what} differs at character {at}:\n  made   {have[at - 40 if at > 40 else 0:at + 80]}'
                         f'\n  stored {want[at - 40 if at > 40 else 0:at + 80]}')


def hints_of(entry):
    members = json.loads(entry)['members']
    return {
        (one['proposal']['agent'], one['proposal']['n']): [issue['hint'] for issue in one['verdict'].get('issues', [])]
        for one in members if 'proposal' in one
    }


def check(fixture):
    """Folds every play of a fixture; gives the number of entries. Raises Differs."""
    schema = Schema(fixture['contract'], fixture['functions'], fixture.get('checks', {}))
    count = 0
    for number, play in enumerate(fixture['plays']):
        space = Space(fixture['space'], schema)
        for given in play['rounds']:
            # Order and repeats say nothing: the proposals are given backwards and twice.
            proposals = given['proposals'][::-1] + given['proposals']
            made = space.seal(given['term'], given['events'], proposals, hints_of(given['entry']))
            if made != given['entry']:
                raise Differs(f'play {number}, entry {space.revision}', made, given['entry'])
            count += 1
        state, wanted = canonical(schema.views(space.cells)), canonical(play['state'])
        if state != wanted:
            raise Differs(f'play {number}, the state at the end', state, wanted)
    return count


def main(arguments):
    paths = [pathlib.Path(one) for one in arguments] or sorted(pathlib.Path(__file__).parent.glob('*.json'))
    passed = left_out = 0
    for path in paths:
        fixture = json.loads(path.read_text(encoding='utf-8'))
        missing = kinds.missing_in(fixture['contract'])
        if missing:
            left_out += 1
            print(f'{path.name}: left out, {missing} is not written here')
            continue
        try:
            print(f'{path.name}: {check(fixture)} entries, the same bytes')
            passed += 1
        except Differs as difference:
            print(f'{path.name}: {difference}')
            return 1
    print(f'{passed} fixtures hold, {left_out} left out')
    return 0 if passed > 0 and (not arguments or left_out == 0) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
