"""The kind `vote`: one ballot an agent, and a decision that stays."""
from .canonical import canonical, leaf, trie_digest
from .kind import Kind
from .marks import affirmed, mark_json
from .reading import read_one


class Vote(Kind):
    """`ballots` holds `[option, weight]` by agent; `decision` is `[option, agent]`, or None."""

    def empty(self, born):
        return {'ballots': {}, 'decision': None, 'mark': born}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'vote', ['vote', 'abstain'], path, refuse)
        if read is None:
            return None
        verb, value = read
        if verb == 'abstain' and value is True:
            return [None]
        if verb == 'vote' and isinstance(value, str) and value in self.merge['options']:
            return [value]
        refuse(path, 'schema', 'vote', 'change', want=value)
        return None

    def erases(self, op):
        return 1 if op[0] is None else 0

    def fold(self, cell, op, path, attempt):
        [option], roster, ballots = op, self.merge.get('roster'), dict(cell['ballots'])
        if roster is not None and not attempt.may_write(path, {'writers': sorted(roster)}):
            return cell
        before = ballots.pop(attempt.agent, None)
        after = None if option is None else [option, 1 if roster is None else roster[attempt.role]]
        if before == after:
            attempt.note(path, 'unchanged')
            return cell
        if before is None and len(ballots) >= self.merge['voters']:
            attempt.refuse(path, 'bound', 'vote', 'change', have=len(ballots), want={'vote': option})
            return cell
        if after is not None:
            ballots[attempt.agent] = after
        decision = cell['decision']
        if decision is not None and decision[0] != option:
            attempt.note(path, 'superseded', by=decision[1], value=decision[0])
        return {'ballots': ballots, 'decision': decision, 'mark': affirmed(cell['mark'], attempt.mark)}

    def settle(self, cell, path, evict):
        tally = self.tally(cell)
        leaders = [option for option, weight in tally.items() if weight == max(tally.values())]
        if cell['decision'] is not None or len(leaders) > 1 or tally[leaders[0]] < self.merge['quorum']:
            return cell
        return {**cell, 'decision': [leaders[0], cell['mark'].agent]}

    def tally(self, cell):
        ballots = cell['ballots'].values()
        return {option: sum(weight for one, weight in ballots if one == option) for option in self.merge['options']}

    def json(self, cell):
        ballots = {agent: option for agent, (option, _) in cell['ballots'].items()}
        return {'decision': cell['decision'] and cell['decision'][0], 'ballots': ballots, 'tally': self.tally(cell)}

    def encode(self, cell):
        return canonical({**cell, 'mark': mark_json(cell['mark'])})

    def digest(self, cell):
        ballots = trie_digest({agent: canonical(ballot) for agent, ballot in cell['ballots'].items()})
        return leaf(f'["{ballots}",{canonical(cell["decision"])},{canonical(mark_json(cell["mark"]))}]')
