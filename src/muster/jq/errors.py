"""What goes wrong while a query runs. Raised by values, paths, builtins and both evaluators.

`JqError` is what `try` and `?` catch. `Break` carries a `break` to its label. `HaltError` ends the run: the engine
has no process to end, so it is an error that `try` does not catch. Budgets are in budgets.py. The sentences need
previews of values, so they are built by the functions of texts.py; this module knows no values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import EvaluationError

if TYPE_CHECKING:
    from muster.jq.values.value import Value

LONGEST_MESSAGE = 400
"""Characters of a message for those outside, which go into conditions, events and logs. `catch` sees all of it."""


def shortened(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + " ..."


class JqError(EvaluationError):
    """A query failed. `value` is what `catch` receives: the message, or whatever was given to `error`."""

    def __init__(self, message: str, value: Value = None, *, raised: bool = False) -> None:
        super().__init__(shortened(message))
        self.value = value if raised else message


class HaltError(EvaluationError):
    """The query called `halt` or `halt_error`. Not catchable."""

    def __init__(self, message: str, value: Value, code: int) -> None:
        super().__init__(shortened(message))
        self.value = value
        self.code = code


class Break(Exception):  # noqa: N818 - control flow, not a failure
    """On its way to the label with this identity."""

    def __init__(self, label: object) -> None:
        self.label = label
        super().__init__(label)
