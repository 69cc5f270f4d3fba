"""A space, and how a round is sealed."""
import json
import re

from .canonical import canonical, sha256, tokens_of, trie_digest, units
from .judging import Attempt
from .marks import Mark, Stamp, admit_key, spin

ISSUES_MAX = 32


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
        for due in self.due(agents, proposals)[:4096]:
            attempt = Attempt(self, cells, *due[1:], revision, len(judged))
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
                words = [*hints.get((proposal['agent'], proposal['n']), []), *[''] * ISSUES_MAX]
                verdict['issues'] = [{**issue, 'hint': hint} for issue, hint in zip(listed(attempt.issues), words)]
                if all(map(is_curable, attempt.issues)):
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
        tokens = tokens_of(event['path'])
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
        return next_cells if all(self.schema.checks[one['name']](*views) in (True, []) for one in woken) else None

    def due(self, agents, texts):
        """The proposals that are due, in admit order."""
        read_all = [(one['agent'], one['n'], text, one) for text, one in ((text, json.loads(text)) for text in set(texts))]
        given = sorted(read_all, key=lambda one: (one[0], one[1], units(one[2])))
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


def listed(issues):
    """As many issues as a verdict holds; the last one stands for the rest."""
    if len(issues) <= ISSUES_MAX:
        return issues
    rest = issues[ISSUES_MAX - 1:]
    worst = next((one for one in rest if not is_curable(one)), rest[0])
    return issues[:ISSUES_MAX - 1] + [{'path': '', **{key: worst[key] for key in ('code', 'rule', 'recovery')}}]


def is_curable(issue):
    return issue['recovery'] in ('re-read', 'wait', 'claim-again')


def event_key(event):
    kind = event['kind']
    if kind == 'genesis':
        return f'0 {event["nonce"]} {event["schema"]}'
    if kind == 'join':
        return f'1 {event["agent"]} {event["session"]} {event["role"]}'
    if kind == 'expire':
        return f'2 {event["path"]} {event["token"]} {event["cause"]}'
    return f'3 {event["agent"]} {event["incarnation"]}'
