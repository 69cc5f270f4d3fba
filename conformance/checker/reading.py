"""Reading the verbs of a patch: what is not of its type, and where."""
from .canonical import SAFE_MAX, canonical, chars


def fault(schema, value):
    """None, `schema`, or `bound` where the value is of the type and too large or too small."""
    if 'anyOf' in schema:
        faults = [fault(one, value) for one in schema['anyOf']]
        return None if None in faults else 'bound' if faults.count('bound') == 1 else 'schema'
    if 'enum' in schema or 'const' in schema:
        allowed = schema.get('enum', [schema.get('const')])
        return None if canonical(value) in map(canonical, allowed) else 'schema'
    kind = schema['type']
    if kind == 'null':
        return None if value is None else 'schema'
    if kind == 'boolean':
        return None if isinstance(value, bool) else 'schema'
    if kind == 'string':
        if not isinstance(value, str):
            return 'schema'
        return None if schema.get('minLength', 0) <= chars(value) <= schema['maxLength'] else 'bound'
    if kind in ('integer', 'number'):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or (kind == 'integer' and value != int(value)):
            return 'schema'
        return None if schema['minimum'] <= value <= schema['maximum'] else 'bound'
    if kind == 'array':
        if not isinstance(value, list):
            return 'schema'
        faults = [fault(schema['items'], one) for one in value]
        is_long = len(value) > schema['maxItems'] or len(value) < schema.get('minItems', 0)
        return worst(faults + (['bound'] if is_long else []))
    if not isinstance(value, dict) or set(value) - set(schema['properties']) or set(schema['required']) - set(value):
        return 'schema'
    return worst([fault(schema['properties'][key], one) for key, one in value.items()])


def worst(faults):
    return 'schema' if 'schema' in faults else 'bound' if 'bound' in faults else None


def has_type(schema, value, rule, path, refuse):
    code = fault(schema, value)
    if code is not None:
        refuse(path, code, rule, 'change', want=value)
    return code is None


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_MAX


def read_verbs(intent, rule, verbs, path, refuse):
    if not isinstance(intent, dict):
        refuse(path, 'schema', rule, 'change', want=intent)
        return None
    if not intent or set(intent) - set(verbs):
        refuse(path, 'schema', rule, 'change')
        return None
    return intent


def read_one(intent, rule, verbs, path, refuse):
    read = read_verbs(intent, rule, verbs, path, refuse)
    if read is not None and len(read) > 1:
        refuse(path, 'schema', rule, 'change')
        return None
    return None if read is None else next(iter(read.items()))


def read_list(schema, value, rule, path, refuse):
    if not isinstance(value, list):
        refuse(path, 'schema', rule, 'change', want=value)
        return None
    return value if all(has_type(schema, one, rule, f'{path}/{at}', refuse) for at, one in enumerate(value)) else None


def is_once(names, rule, path, refuse):
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        refuse(path, 'schema', rule, 'change', want=twice)
    return twice is None
