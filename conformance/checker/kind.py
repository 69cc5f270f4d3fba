"""What every field kind has."""
from .canonical import canonical, leaf
from .marks import mark_json


class Kind:
    """A cell with a `mark`, and mostly a `value`."""

    def __init__(self, merge, below=None, function=None):
        """`below` makes the kind of a part from its declaration and its name; `function` is what no contract holds."""
        self.merge, self.name, self.function = merge, merge['kind'], function

    def empty(self, born):
        return {'value': self.merge.get('start'), 'mark': born}

    def weigh(self, op):
        return 1

    def erases(self, op):
        return 0

    def aims(self, cell, op, path):
        """The places that an operation names, with what stands there."""
        return [(path, self.json(cell))]

    def may_drop(self, cell, path, attempt):
        """Whether nobody else holds something in it; refuses where somebody does."""
        return True

    def newest(self, cell):
        return cell['mark']

    def json(self, cell):
        return cell['value']

    def encode(self, cell):
        return canonical({'mark': mark_json(cell['mark']), 'value': cell['value']})

    def digest(self, cell):
        return leaf(self.encode(cell))

    def child(self, cell, token):
        return None

    def settle(self, cell, path, evict):
        return cell

    def expire(self, cell, tokens, event, mark):
        return cell
