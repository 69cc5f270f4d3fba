#!/usr/bin/env python3
"""Folds the fixtures again, by docs/wire-format.md and without the core, and compares every entry byte for byte.

Usage: python3 check.py [--spoilt] [file ...]   without files, all fixtures beside this script.
With --spoilt each fixture is spoilt too, in memory, one byte or one verdict at a time, and each such fault must be found.
Python 3.9 or later, its standard library alone. Hints are words for people: they are taken from the stored entries.
Ends with 1 at the first byte that differs. Fixtures of kinds that are not written here are named and left out.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
from checker.differs import Differs
from checker.fixture import check, read
from checker.kinds import missing_in
from checker.spoiling import unfound


def main(arguments):
    files = [one for one in arguments if one != '--spoilt']
    paths = [pathlib.Path(one) for one in files] or sorted(pathlib.Path(__file__).parent.glob('*.json'))
    passed = left_out = 0
    for path in paths:
        fixture = read(path)
        missing = missing_in(fixture['contract'])
        if missing:
            left_out += 1
            print(f'{path.name}: left out, {missing} is not written here')
            continue
        try:
            print(f'{path.name}: {check(fixture)} entries, the same bytes')
        except Differs as difference:
            print(f'{path.name}: {difference}')
            return 1
        passed += 1
        if '--spoilt' in arguments:
            missed, count = unfound(fixture)
            print(f'{path.name}: {count - len(missed)} of {count} faults found {"; ".join(missed)}'.rstrip())
            if missed:
                return 1
    print(f'{passed} fixtures hold, {left_out} left out')
    return 0 if passed > 0 and (not files or left_out == 0) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
