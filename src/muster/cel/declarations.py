"""What an environment offers to expressions, as data: functions, variables, macros, libraries.

Seam: libraries declare, the checker resolves by it, interpreter and code generator call `impl`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from muster.cel.checking.types import has_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.charge import Charge, Tariff
    from muster.cel.values.value import Value
    from muster.values.paths import Path


Answer: TypeAlias = Callable[[str], Any]
"""A function of a text alone."""


class Prepared(NamedTuple):
    """A function of a text alone, and the longest text for which it stays within the work it was given."""

    function: Answer
    longest: int


class Quick(NamedTuple):
    """The same, and so quick that to remember what it gave would take longer.

    `code` is how it is asked in Python, {0} being the text, {1} the function and what follows the constants; the name n
    is free. None means that it has no answer to this text.
    """

    function: Callable[..., Any]
    longest: int
    code: str
    constants: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function, with cel-go's overload id.

    `args` has the receiver first when `member`. `impl` takes the values in that order and returns a value or raises
    EvaluationError; None for what the language itself evaluates (`_&&_`, `_?_:_`, …). Dispatch on dyn arguments tries
    the overloads whose argument kinds fit the values. Implementations are pure: a call of constants is made once.

    A `metered` implementation takes the meter before the values. It has to be one when it looks inside its arguments,
    or makes more than it was given; lengths of texts, lists and maps are charged before every call.

    `reads` narrows what the function looks at in its first argument: from the constant arguments (values.MISSING for
    others) it makes paths below that argument.

    `prepared` is for functions of a text that are called often with constants behind it: from the units of work that
    may go uncounted and the constants it makes a function of the text alone, which does what `impl` would do, or None.

    `asked` is for functions that ask something about what was read from a text, with constants behind it: a quick way
    to do both, if there is one, from what gives the answer otherwise, the constants of the call that reads and its own.

    `charges` says what a call costs and is expected to cost, by whose numbers (see costs/charge.py).
    """

    id: str
    args: tuple[Type, ...]
    result: Type
    impl: Callable[..., Any] | None = None
    member: bool = False
    reads: Callable[[tuple[Value, ...]], tuple[Path, ...]] | None = None
    metered: bool = False
    prepared: Callable[..., Prepared | Quick | None] | None = None
    asked: Callable[[Prepared, tuple[Value, ...], tuple[Value, ...]], Quick | None] | None = None
    lenient: bool = False  # dispatch looks at the number of arguments only; `impl` refuses what it cannot take
    charges: Mapping[Tariff, Charge] = field(default_factory=dict)
    is_generic: bool = field(init=False, repr=False, compare=False)  # told once: the checker asks at every call

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_generic", any(map(has_parameters, (*self.args, self.result))))


@dataclass(frozen=True, slots=True)
class Function:
    """A function with its overloads, its documentation, and examples that a test executes (expression -> value).

    `charges` counts for overloads that have none of their own from the same tariff, and for calls of which the overload
    is not known before they run.
    """

    name: str
    overloads: tuple[Overload, ...]
    doc: str = ""
    examples: Mapping[str, Value] = field(default_factory=dict)
    charges: Mapping[Tariff, Charge] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    type: Type
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A name with a fixed value that expressions may use (for example a type or an enum value)."""

    name: str
    type: Type
    value: Value


@dataclass(frozen=True, slots=True)
class Macro:
    """A call that is rewritten while parsing. `arg_count` None means any number (cel-go's var-arg macro).

    `expand(helper, target, args)` returns the new expression, None to leave the call as it is, or raises
    through `helper.error(node, message)`. The helper makes nodes with fresh ids (see macros.py).
    """

    name: str
    receiver: bool
    arg_count: int | None
    expand: Callable[..., Any]
    doc: str = ""
    examples: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Library:
    """Functions, macros, constants and literal validators that belong together."""

    name: str
    functions: tuple[Function, ...] = ()
    macros: tuple[Macro, ...] = ()
    constants: tuple[Constant, ...] = ()
    validators: tuple[Callable[..., Any], ...] = ()  # (checked tree, environment) -> diagnostics; see validators.py
