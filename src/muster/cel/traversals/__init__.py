"""Everything that walks over the inside of a value: comparing, searching, writing, measuring.

Values are graphs: sixty doublings are sixty lists and 2^60 visits, and a text of JSON may nest ten thousand deep. So
every function here takes the meter first, charges before it visits, and keeps a stack of its own instead of recursing.
Nothing else in this package looks inside containers; tests/cel/test_traversals.py refuses code that would.
"""

from muster.cel.traversals.equality import distinct, equals, first_index, has_element, last_index, shares_element
from muster.cel.traversals.prices import json_tree, tree_traversal
from muster.cel.traversals.styles import go_text, no_such_key, value_text
from muster.cel.traversals.writing import Style, brief, written

__all__ = [
    "Style",
    "brief",
    "distinct",
    "equals",
    "first_index",
    "go_text",
    "has_element",
    "json_tree",
    "last_index",
    "no_such_key",
    "shares_element",
    "tree_traversal",
    "value_text",
    "written",
]
