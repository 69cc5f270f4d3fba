"""Marks of changes, stamps of proposals, and their order."""
from typing import NamedTuple, Optional, Tuple

from .canonical import SAFE_MAX, canonical, mix

TRUST_MAX = 100
ABSENT = object()


def nullable(value):
    return None if value is ABSENT else value


class Mark(NamedTuple):
    agent: str
    n: int
    revision: int
    foreign: Optional[Tuple[str, int]]
    trust: Optional[int]


def mark_json(mark):
    if mark is None:
        return None
    trust = [] if mark.trust is None else [mark.trust]
    return [mark.agent, mark.n, mark.revision, *(mark.foreign or ()), *trust]


def marks_json(marks):
    return {key: mark_json(mark) for key, mark in marks.items()}


def mark_texts(marks):
    return {key: canonical(mark_json(mark)) for key, mark in marks.items()}


def summed(before, mark):
    if before is None:
        return mark
    foreign = before.foreign if before.agent == mark.agent else (before.agent, before.revision)
    return mark if foreign is None else mark._replace(foreign=foreign)


def least_trust(marks):
    return min([TRUST_MAX] + [mark.trust for mark in marks if mark is not None and mark.trust is not None])


def trusted_to(mark, trust):
    return mark._replace(trust=trust) if trust < least_trust([mark]) else mark


def affirmed(before, mark):
    return trusted_to(summed(before, mark), least_trust([before]))


def blocker(mark, agent):
    """Whose change stands in the way: `by` of an issue."""
    if mark is None:
        return ABSENT
    name = (mark.foreign or ('', 0))[0] if mark.agent == agent else mark.agent
    return name or ABSENT


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


def sort_key(number):
    return f'0{number + SAFE_MAX:016}' if number < 0 else f'1{number:016}'


def stamp_key(stamp):
    numbers = ''.join(sort_key(one) for one in (stamp.depth, stamp.priority, stamp.spin))
    return f'{numbers}{stamp.agent},{sort_key(stamp.n)}'
