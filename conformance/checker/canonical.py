"""Canonical JSON, digests, hashes, and how values are shown in verdicts."""
import hashlib
import json

SAFE_MAX = 2**53 - 1


def units(text):
    """UTF-16 code units, as a key to sort by."""
    return text.encode('utf-16-be', 'surrogatepass')


def chars(text):
    return len(units(text)) // 2


def number_text(value):
    """A number as ECMAScript prints it."""
    if isinstance(value, int):
        return str(value)
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    digits, _, exponent = text.lower().partition('e')
    sign, digits = ('-', digits[1:]) if digits.startswith('-') else ('', digits)
    whole, _, part = digits.partition('.')
    point = len(whole) + int(exponent or 0)
    both = (whole + part).lstrip('0')
    point -= len(whole + part) - len(both)
    both = both.rstrip('0')
    if -6 < point <= 0:
        return f'{sign}0.{"0" * -point}{both}'
    if 0 < point <= 21:
        return f'{sign}{both[:point]}.{both[point:]}'
    shift = point - 1
    return f'{sign}{both[0]}{"." if both[1:] else ""}{both[1:]}e{"+" if shift > 0 else ""}{shift}'


def canonical(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return f'[{",".join(map(canonical, value))}]'
    return '{' + ','.join(f'{canonical(key)}:{canonical(value[key])}' for key in sorted(value, key=units)) + '}'


def sha256(text):
    return hashlib.sha256(text.encode('utf-8')).hexdigest()


def leaf(text):
    return text if chars(text) <= 128 else f'"{sha256(text)}"'


def mix(start, text):
    """FNV-1a over the code units of a text, then the finaliser of MurmurHash3."""
    h = start
    for at in range(0, len(units(text)), 2):
        h = (h ^ int.from_bytes(units(text)[at:at + 2], 'big')) * 0x01000193 & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def trie_digest(texts, depth=0):
    """`texts` holds the text of every value by its key."""
    if len(texts) <= 16 or depth == 8:
        inside = ','.join(f'{canonical(key)}:{texts[key]}' for key in sorted(texts, key=units))
        return sha256(f'{{{inside}}}')
    parts = [{} for _ in range(16)]
    for key, text in texts.items():
        parts[mix(0x811C9DC5, key) >> 4 * depth & 15][key] = text
    return sha256('["' + '","'.join(trie_digest(part, depth + 1) for part in parts) + '"]')


def ordered_digest(texts):
    """`texts` holds the text of every value by its key."""
    if not texts:
        return ''
    top = min(texts, key=lambda key: (-mix(0x811C9DC5, key), units(key)))
    lesser = {key: text for key, text in texts.items() if units(key) < units(top)}
    greater = {key: text for key, text in texts.items() if units(key) > units(top)}
    return sha256(f'["{ordered_digest(lesser)}",{canonical(top)},{texts[top]},"{ordered_digest(greater)}"]')


def in_order(given):
    """The members of an object in the order in which they are folded: array indexes first, by number."""
    def place(key):
        is_index = key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**32 - 1
        return (0, int(key), b'') if is_index else (1, 0, units(key))
    return sorted(given, key=place)


def escaped(token):
    return token.replace('~', '~0').replace('/', '~1')


def tokens_of(path):
    return [token.replace('~1', '/').replace('~0', '~') for token in path.split('/')[1:]]


def clipped(text, most):
    if chars(text) <= most:
        return text
    cut = units(text)[:2 * most]
    if 0xD8 <= cut[-2] <= 0xDB:
        cut = cut[:-2]
    return f'{cut.decode("utf-16-be")}… ({chars(text)} characters)'


def excerpt(value):
    """A value as verdicts show it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clipped(value, 200)
    text = canonical(value)
    if chars(text) <= 200:
        return text if is_deeper(value, 8) else value
    return clipped(text, 200)


def is_deeper(value, depth):
    if not isinstance(value, (list, dict)):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(is_deeper(part, depth - 1) for part in parts)
