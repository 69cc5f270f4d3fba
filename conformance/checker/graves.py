"""Tombstones of what was dropped, in two generations: the mark of a drop, or a list of the marks of removes."""
from .canonical import canonical, trie_digest
from .marks import Mark, mark_json

YOUNG_MAX = 1024
NO_GRAVES = {'young': {}, 'old': {}, 'turned': 0, 'floor': 0}


def grave_of(graves, key):
    """The tombstone of a key; a mark of nobody where there may have been one."""
    known = graves['young'].get(key) or graves['old'].get(key)
    return known if known is not None or graves['floor'] == 0 else Mark('', 0, graves['floor'], None, None)


def with_grave(graves, key, grave, horizon):
    revision = (grave if isinstance(grave, Mark) else grave[-1]).revision
    is_spent = graves['turned'] <= horizon and revision > graves['turned']
    is_full = len(graves['young']) >= YOUNG_MAX and revision > graves['turned']
    if not is_spent and not is_full:
        return {**graves, 'young': {**graves['young'], key: grave}}
    floor = graves['floor'] if is_spent or not graves['old'] else graves['turned']
    return {'young': {key: grave}, 'old': graves['young'], 'turned': revision, 'floor': floor}


def without_grave(graves, key):
    young, old = ({one: grave for one, grave in graves[part].items() if one != key} for part in ('young', 'old'))
    return {**graves, 'young': young, 'old': old}


def remembered(graves):
    """The part of a digest that covers them."""
    shown = graves_json(graves)
    young, old = (trie_digest({key: canonical(one) for key, one in shown[part].items()}) for part in ('young', 'old'))
    return f'"{young}","{old}",{graves["turned"]},{graves["floor"]}'


def graves_json(graves):
    young, old = ({key: grave_json(one) for key, one in graves[part].items()} for part in ('young', 'old'))
    return {**graves, 'young': young, 'old': old}


def grave_json(grave):
    return mark_json(grave) if isinstance(grave, Mark) else [mark_json(one) for one in grave]
