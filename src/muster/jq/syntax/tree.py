"""What a query says, before names mean anything. parser.py makes these nodes, printer.py and resolve.py read them.

Every node knows its place in the text; places are left out of comparisons, so that two readings of one query are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from muster.source import Span

if TYPE_CHECKING:
    from muster.jq.values.value import Value

NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Identity:
    """`.`"""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RecurseAll:
    """`..`"""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """null, true, false or a number; `text` as written, which keeps 1.0 and 1 apart for the printer."""

    value: Value
    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A string, in pieces when it has `\\(…)` in it; `format` is the `@name` in front of it."""

    parts: tuple[str | Query, ...]
    format: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def constant(self) -> str | None:
        if not self.parts:
            return ""
        return self.parts[0] if len(self.parts) == 1 and isinstance(self.parts[0], str) else None


@dataclass(frozen=True, slots=True)
class Format:
    """`@base64` without a string."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """`target.key` and `target[key]`."""

    target: Query
    key: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    target: Query
    start: Query | None
    end: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Iterate:
    """`target[]`"""

    target: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Optional:
    """`target?`"""

    target: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments, which are queries, not values."""

    name: str
    args: tuple[Query, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`; the name comes without the dollar."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """One entry of `{…}`; without a value, `{name}`, `{"name"}`, `{$name}` mean the field or variable of that name."""

    key: Query
    value: Query | None


@dataclass(frozen=True, slots=True)
class Object:
    entries: tuple[ObjectEntry, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Array:
    body: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    operand: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison, `and`, `or`, `//` and all assignments."""

    operator: str
    left: Query
    right: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pipe:
    parts: tuple[Query, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comma:
    parts: tuple[Query, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    """Condition and result of `if` and every `elif`; without `else` the input passes."""

    branches: tuple[tuple[Query, Query], ...]
    otherwise: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Try:
    body: Query
    handler: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VariablePattern:
    name: str


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """`$name`, `key: pattern`, `$name: pattern`."""

    key: Query
    value: Pattern | None


@dataclass(frozen=True, slots=True)
class ObjectPattern:
    entries: tuple[PatternEntry, ...]


Pattern: TypeAlias = VariablePattern | ArrayPattern | ObjectPattern


@dataclass(frozen=True, slots=True)
class Bind:
    """`source as pattern ?// pattern | body`"""

    source: Query
    patterns: tuple[Pattern, ...]
    body: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reduce:
    source: Query
    pattern: Pattern
    start: Query
    update: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Foreach:
    source: Query
    pattern: Pattern
    start: Query
    update: Query
    extract: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    body: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """`def name(parameters): body;` A parameter with a dollar is a value, one without is a query."""

    name: str
    parameters: tuple[str, ...]
    body: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Define:
    """Definitions and the query that may use them; no query is an error of resolve.py, as in gojq."""

    definitions: tuple[Definition, ...]
    body: Query | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Import:
    """Modules cannot be loaded; the node exists so that the refusal can name them."""

    path: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Query: TypeAlias = (
    Identity
    | RecurseAll
    | Literal
    | Text
    | Format
    | Index
    | Slice
    | Iterate
    | Optional
    | Call
    | Variable
    | Object
    | Array
    | Unary
    | Binary
    | Pipe
    | Comma
    | If
    | Try
    | Bind
    | Reduce
    | Foreach
    | Label
    | Break
    | Define
)


@dataclass(frozen=True, slots=True)
class Program:
    """A whole query text."""

    imports: tuple[Import, ...]
    body: Query
