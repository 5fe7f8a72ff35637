"""Python text under construction: lines, indentation, constants and costs not yet written down.

Only fixed text, generated names and numbers become part of a line. Whatever comes from an expression (texts, keys,
values, functions) is a constant: it gets a name like k3 and is handed to the function as data.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muster.cel.costs.compile_budget import PER_LINE, CompileBudgetSpentError

if TYPE_CHECKING:
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

    def __init__(self, function: Function, budget: CompileBudget, new_meter: str = "") -> None:
        self.function = function
        self.new_meter = new_meter  # how it is made, where the meter of the evaluation may not be there yet
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
        self.function.lines.append(" " * self.indent + text)  # Python takes longer to read four of them

    @property
    def meter(self) -> str:
        """How the meter of the evaluation is handed on. Most need none, so it is made where one is asked for first."""
        return f"(w := w or {self.new_meter})" if self.new_meter else "w"

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

    def cost_so_far(self) -> str:
        """The cost with what is pending, for a call that gives it back."""
        pending, self.pending = self.pending, 0
        return f"c + {pending}" if pending else "c"

    def spend(self, units: int) -> None:
        """Work known now."""
        self.line(f"{self.meter}[0] -= {units}")
        self.line("if w[0] < 0: raise exceeded(w)")

    def charge_now(self, code: str) -> None:
        """A cost known only at run time; the limit is checked right after it."""
        self.line(f"c += {code} + {self.pending}" if self.pending else f"c += {code}")
        self.pending = 0
        self.line("if c > limit: raise Limit")

    def block(self, head: str) -> Block:
        """An indented block that starts with the costs pending before it, and has written them when it ends."""
        self.line(head)
        self.indent += 1
        return Block(self)

    def joined(self) -> None:
        """After the last of the blocks that all paths go through: what was pending before has been written in each."""
        self.pending = 0


class Block:
    """A block that is being written; a class, because a generator would take longer than what it does."""

    __slots__ = ("_length", "_pending", "_writer")

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._pending = writer.pending
        self._length = len(writer.function.lines)

    def __enter__(self) -> None:
        pass

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None:
            return
        writer = self._writer
        writer.flush()
        if len(writer.function.lines) == self._length:
            writer.line("pass")
        writer.pending = self._pending
        writer.indent -= 1
