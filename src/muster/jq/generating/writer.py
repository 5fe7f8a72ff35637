"""Lines of one Python function while it is being generated. Names are numbered through the whole program, so that a
function which mentions a name of another one can be given it as a parameter."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.jq.values.value import Value

_CAPTURED = "\0"
"""Stands for the captured names in a function's calls of itself."""

_TEMPORARY = re.compile(r"\bt\d+\b")
MAX_INDENT = 60
MAX_BLOCKS = 18
MAX_LINES = 4000
MAX_CHARACTERS = 160_000
CHARACTERS_PER_STEP = 1024
"""Loops and calls pay a step for so much code inside them, beside what the code itself pays: else a query could put
thousands of operations into one turn."""
MAX_PARENTHESES = 90
"""CPython allows 100 levels of indentation, 20 nested loops and tries, 200 nested parentheses."""


class TooLargeError(Exception):
    """The query is better left to the reference evaluator."""


@dataclass
class Module:
    """All functions of a program, and its constants: data under a name, never text in the source."""

    namespace: dict[str, Value]
    functions: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    lines: int = 0
    characters: int = 0
    _constants: dict[int, str] = field(default_factory=dict)

    def name(self, prefix: str) -> str:
        return f"{prefix}{next(self.numbers)}"

    def constant(self, value: Value) -> str:
        known = self._constants.get(id(value))
        if known is None:
            known = self._constants[id(value)] = self.name("k")
            self.namespace[known] = value  # also keeps it alive, so that its identity stays its own
        return known


class Writer:
    """One function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.name = module.name("f")
        self.lines: list[str] = []
        self.own: set[str] = set()
        self.indent = 1
        self.blocks = 0

    def temporary(self) -> str:
        name = self.module.name("t")
        self.own.add(name)
        return name

    def line(self, text: str) -> None:
        module = self.module
        module.lines += 1
        module.characters += len(text)
        if module.lines > MAX_LINES or module.characters > MAX_CHARACTERS or self.indent > MAX_INDENT:
            raise TooLargeError
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A statement with a body; loops and tries count against CPython's limit."""
        self.line(head)
        nests = not head.startswith(("if ", "else"))
        self.indent += 1
        self.blocks += nests
        if self.blocks > MAX_BLOCKS:
            raise TooLargeError
        before = len(self.lines)
        characters = self.module.characters
        yield
        if len(self.lines) == before:
            self.line("pass")
        if head.startswith(("for ", "while ")):
            self.charge(before, self.module.characters - characters)
        self.indent -= 1
        self.blocks -= nests

    def charge(self, at: int, characters: int) -> None:
        """Let the code from this line on pay for its length, functions that were written for it included."""
        steps = characters // CHARACTERS_PER_STEP
        if steps:
            indent = "    " * self.indent
            self.lines[at:at] = [f"{indent}b.steps -= {steps}", f"{indent}if b.steps < 0: b.refill()"]

    def call_itself(self, value: str) -> str:
        """A call of the function that is being written; what it captures is known only at its end."""
        return f"{self.name}(b, {value}{_CAPTURED})"

    def finish(self, value: str) -> list[str]:
        """Add the function to the module; returns the outer names that it needs as parameters after the input."""
        body = "\n".join(self.lines)
        used = set(_TEMPORARY.findall(body)) - self.own - {value}
        captured = sorted(used, key=lambda name: int(name[1:]))
        body = body.replace(_CAPTURED, "".join(f", {name}" for name in captured))
        parameters = ", ".join(("b", value, *captured))
        self.module.functions.append(f"def {self.name}({parameters}):\n{body}")
        return captured
