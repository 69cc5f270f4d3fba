"""The error of a text that is not the stored one."""


class Differs(Exception):
    def __init__(self, what, have, want):
        at = next((i for i, (a, b) in enumerate(zip(have, want)) if a != b), min(len(have), len(want)))
        super().__init__(f'{what} differs at character {at}:\n  made   {have[at - 40 if at > 40 else 0:at + 80]}'
                         f'\n  stored {want[at - 40 if at > 40 else 0:at + 80]}')
