"""The kind `escrow`: a sum whose room above `lo` is dealt out in shares."""
import re

from .canonical import canonical, leaf, trie_digest
from .kind import Kind
from .marks import affirmed, mark_json
from .reading import is_integer, read_one

AGENT = re.compile(r'(?!(constructor|prototype)$)[a-z][a-z0-9-]{0,31}')
RECEIPTS_MAX = 64


class Escrow(Kind):
    """`shares` holds, by agent, what is its own and the receipts `(amount, mark)` that it may not have seen, oldest first."""

    def empty(self, born):
        return {'value': self.merge['start'], 'pool': self.merge['start'] - self.merge['lo'], 'shares': {}, 'mark': born}

    def read(self, intent, path, refuse):
        read = read_one(intent, 'escrow', ['inc', 'transfer', 'grant'], path, refuse)
        if read is None:
            return None
        verb, value = read
        if verb == 'inc' and is_integer(value):
            return verb, None, value
        if verb != 'inc' and isinstance(value, dict) and set(value) == {'to', 'amount'}:
            to, amount = value['to'], value['amount']
            if isinstance(to, str) and AGENT.fullmatch(to) and is_integer(amount) and amount >= 1:
                return verb, to, amount
        refuse(path, 'schema', 'escrow', 'change', want=value)
        return None

    def fold(self, cell, op, path, attempt):
        verb, to, amount = op
        if verb == 'grant' and not attempt.may_write(path, {'writers': self.merge['granters']}):
            return cell
        if (verb == 'inc' and amount == 0) or (verb == 'transfer' and to == attempt.agent):
            attempt.note(path, 'unchanged')
            return cell
        shares, value, pool = dict(cell['shares']), cell['value'], cell['pool']
        if verb == 'grant':
            if amount > pool:
                attempt.refuse(path, 'bound', 'escrow', 'change', have=pool, want=amount)
                return cell
            pool -= amount
        else:
            by = amount if verb == 'inc' else -amount
            own, later = seen(shares.get(attempt.agent, NOTHING), attempt)
            if own + by < 0:
                recovery = 'change' if own + total(later) + by < 0 else 're-read'
                attempt.refuse(path, 'bound', 'escrow', recovery, have=own, want=by)
                return cell
            if verb == 'inc':
                value += by
            if value > self.merge['hi']:
                attempt.refuse(path, 'bound', 'escrow', 'change', have=cell['value'], want=by)
                return cell
            put(shares, attempt.agent, (own + by, later))
        if to is not None:
            put(shares, to, received(shares.get(to, NOTHING), to, amount, attempt))
        if len(shares) > self.merge['shares'] and len(shares) > len(cell['shares']):
            attempt.refuse(path, 'bound', 'escrow', 'change', have=len(cell['shares']), want=len(shares))
        return {'value': value, 'pool': pool, 'shares': shares, 'mark': affirmed(cell['mark'], attempt.mark)}

    def json(self, cell):
        shares = {agent: own + total(later) for agent, (own, later) in cell['shares'].items()}
        return {'value': cell['value'], 'pool': cell['pool'], 'shares': shares}

    def encode(self, cell):
        shares = {agent: share_json(share) for agent, share in cell['shares'].items()}
        return canonical({**cell, 'shares': shares, 'mark': mark_json(cell['mark'])})

    def digest(self, cell):
        shares = trie_digest({agent: canonical(share_json(share)) for agent, share in cell['shares'].items()})
        return leaf(f'["{shares}",{cell["pool"]},{cell["value"]},{canonical(mark_json(cell["mark"]))}]')


NOTHING = (0, [])


def seen(share, attempt):
    """The share as its agent sees it: a receipt that it has seen, or that every view holds, is its own."""
    own, later = share
    known = [one for one in later if one[1].revision <= attempt.horizon or attempt.sees(one[1])]
    return own + total(known), [one for one in later if one not in known]


def received(share, to, amount, attempt):
    if to == attempt.agent:
        own, later = seen(share, attempt)
        return own + amount, later
    own, later = share
    settled = [one for one in later if one[1].revision <= attempt.horizon]
    later = later[len(settled):]
    if len(later) >= RECEIPTS_MAX:
        amount += later[-1][0]
        later = later[:-1]
    return own + total(settled), later + [(amount, attempt.mark)]


def put(shares, agent, share):
    shares[agent] = share
    if share[0] + total(share[1]) == 0:
        del shares[agent]


def total(receipts):
    return sum(amount for amount, _ in receipts)


def share_json(share):
    own, later = share
    return [own] + [[amount, mark_json(mark)] for amount, mark in later]
