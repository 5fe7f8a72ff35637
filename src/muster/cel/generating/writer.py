"""Python text under construction: lines, indentation, constants and costs not yet written down.

Only fixed text, generated names and numbers become part of a line. Whatever comes from an expression (texts, keys,
values, functions) is a constant: it gets a name like k3 and is handed to the function as data.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muster.cel.costs.compile_budget import PER_LINE, CompileBudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.values.value import Value


class Val(NamedTuple):
    """Where a value is (a name or a short expression), its Python class if that is certain, and whether it may fail."""

    code: str
    kind: str | None = None
    fails: bool = True
    constant: bool = False


class Constants:
    """The data of one program, shared by its functions."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._texts: dict[str, str] = {}

    def add(self, value: Value) -> str:
        if type(value) is str and value in self._texts:
            return self._texts[value]
        name = f"k{len(self.values)}"
        if type(value) is str:
            value = sys.intern(value)  # the keys of decoded objects often are, and equal by identity is found faster
            self._texts[value] = name
        self.values.append(value)
        return name


@dataclass
class Function:
    """The lines of one Python function."""

    name: str
    parameters: tuple[str, ...]
    lines: list[str]


class Writer:
    """Writes the body of one function."""

    def __init__(self, function: Function, budget: CompileBudget) -> None:
        self.function = function
        self.budget = budget
        self.indent = 1
        self.loops = 0
        self.pending = 0
        self._temporaries = 0

    def line(self, text: str) -> None:
        budget = self.budget
        budget.left -= PER_LINE
        if budget.left < 0:
            raise CompileBudgetSpentError
        self.function.lines.append("    " * self.indent + text)

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def charge(self, cost: int) -> None:
        """A cost known now; it is written together with its neighbours."""
        self.pending += cost

    def flush(self) -> None:
        if self.pending:
            self.line(f"c += {self.pending}")
            self.pending = 0

    def spend(self, units: int) -> None:
        """Work known now."""
        self.line(f"w[0] -= {units}")
        self.line("if w[0] < 0: raise exceeded(w)")

    def charge_now(self, code: str) -> None:
        """A cost known only at run time; the limit is checked right after it."""
        self.line(f"c += {code} + {self.pending}" if self.pending else f"c += {code}")
        self.pending = 0
        self.line("if c > limit: raise Limit")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """An indented block that starts with the costs pending before it, and has written them when it ends."""
        self.line(head)
        self.indent += 1
        before = self.pending
        length = len(self.function.lines)
        yield
        self.flush()
        if len(self.function.lines) == length:
            self.line("pass")
        self.pending = before
        self.indent -= 1

    def joined(self) -> None:
        """After the last of the blocks that all paths go through: what was pending before has been written in each."""
        self.pending = 0
