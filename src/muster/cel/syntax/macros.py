"""The macros of the language and of its extensions: calls that the parser rewrites.

Libraries list them; the parser expands them through `Builder`, which makes the nodes. Names, shapes and error
texts are cel-go's, because costs and recorded trees depend on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.declarations import Macro
from muster.cel.syntax.nodes import ACCUMULATOR, UNKNOWN
from muster.cel.syntax.tree import Expr, Ident, ListExpr, Literal, MapExpr, Select, StructExpr

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.syntax.nodes import Builder

    Args = tuple[Expr, ...]
    Parts = tuple[Expr, Expr, Expr, Expr]  # accumulator's start, loop condition, loop step, result

_OLD_ACCUMULATOR = "__result__"
_UNUSED = "#unused"
MAP_INSERT = "cel.@mapInsert"


def _has(make: Builder, _: Expr | None, args: Args) -> Expr:
    (field,) = args
    if not isinstance(field, Select):
        raise make.error(field, "invalid argument to has() macro")
    return make.new_presence_test(field.operand, field.field)


# The parts of a fold, from the predicate or transformation that the user wrote.


def _all(make: Builder, predicate: Expr) -> Parts:
    return (
        make.new_literal(True),
        make.new_call("@not_strictly_false", make.new_accumulator()),
        make.new_call("_&&_", make.new_accumulator(), predicate),
        make.new_accumulator(),
    )


def _exists(make: Builder, predicate: Expr) -> Parts:
    return (
        make.new_literal(False),
        make.new_call("@not_strictly_false", make.new_call("!_", make.new_accumulator())),
        make.new_call("_||_", make.new_accumulator(), predicate),
        make.new_accumulator(),
    )


def _exists_one(make: Builder, predicate: Expr) -> Parts:
    start = make.new_literal(0)
    condition = make.new_literal(True)
    counted = make.new_call("_+_", make.new_accumulator(), make.new_literal(1))
    step = make.new_call("_?_:_", predicate, counted, make.new_accumulator())
    return start, condition, step, make.new_call("_==_", make.new_accumulator(), make.new_literal(1))


def _collected(make: Builder, start: Expr, step: Expr, predicate: Expr | None) -> Parts:
    condition = make.new_literal(True)
    if predicate is not None:
        step = make.new_call("_?_:_", predicate, step, make.new_accumulator())
    return start, condition, step, make.new_accumulator()


def _appended(make: Builder, element: Expr, predicate: Expr | None) -> Parts:
    step = make.new_call("_+_", make.new_accumulator(), make.new_list(element))
    return _collected(make, make.new_list(), step, predicate)


# One variable.


def _variable(make: Builder, argument: Expr, refusal: str) -> str:
    if not isinstance(argument, Ident):
        raise make.error(argument, refusal)
    if argument.name in {ACCUMULATOR, _OLD_ACCUMULATOR}:
        raise make.error(argument, "iteration variable overwrites accumulator variable")
    return argument.name


def _fold(make: Builder, target: Expr, variables: tuple[str, str], parts: Parts) -> Expr:
    start, condition, step, result = parts
    return make.new_fold(target, variables, (ACCUMULATOR, start), condition, step, result)


def _quantifier(parts: Callable[[Builder, Expr], Parts]) -> Callable[[Builder, Expr, Args], Expr]:
    def expand(make: Builder, target: Expr, args: Args) -> Expr:
        variable = _variable(make, args[0], "argument must be a simple name")
        return _fold(make, target, (variable, ""), parts(make, args[1]))

    return expand


def _map(make: Builder, target: Expr, args: Args) -> Expr:
    variable = _variable(make, args[0], "argument is not an identifier")
    predicate = args[1] if len(args) == 3 else None
    return _fold(make, target, (variable, ""), _appended(make, args[-1], predicate))


def _filter(make: Builder, target: Expr, args: Args) -> Expr:
    variable = _variable(make, args[0], "argument is not an identifier")
    return _fold(make, target, (variable, ""), _appended(make, args[0], args[1]))


# Two variables: index and element, or key and value.


def _two_variables(make: Builder, first: Expr, second: Expr) -> tuple[str, str]:
    for argument in (first, second):
        if not isinstance(argument, Ident):
            raise make.error(argument, "argument must be a simple name")
    names = tuple(argument.name for argument in (first, second) if isinstance(argument, Ident))
    if names[0] == names[1]:
        raise make.error(second, f"duplicate variable name: {names[0]}")
    for argument, name in zip((first, second), names, strict=True):
        if name in {ACCUMULATOR, _OLD_ACCUMULATOR}:
            raise make.error(argument, "iteration variable overwrites accumulator variable")
    return names[0], names[1]


def _two_variable_quantifier(parts: Callable[[Builder, Expr], Parts]) -> Callable[[Builder, Expr, Args], Expr]:
    def expand(make: Builder, target: Expr, args: Args) -> Expr:
        variables = _two_variables(make, args[0], args[1])
        return _fold(make, target, variables, parts(make, args[2]))

    return expand


def _transformation(args: Args) -> tuple[Expr | None, Expr]:
    """The optional predicate and the transformation, after the two variables."""
    return (args[2], args[3]) if len(args) == 4 else (None, args[2])


def _transform_list(make: Builder, target: Expr, args: Args) -> Expr:
    variables = _two_variables(make, args[0], args[1])
    predicate, element = _transformation(args)
    return _fold(make, target, variables, _appended(make, element, predicate))


def _transform_map(make: Builder, target: Expr, args: Args) -> Expr:
    variables = _two_variables(make, args[0], args[1])
    predicate, value = _transformation(args)
    step = make.new_call(MAP_INSERT, make.new_accumulator(), make.new_ident(variables[0]), value)
    return _fold(make, target, variables, _collected(make, make.new_map(), step, predicate))


def _transform_map_entry(make: Builder, target: Expr, args: Args) -> Expr:
    variables = _two_variables(make, args[0], args[1])
    predicate, entry = _transformation(args)
    step = make.new_call(MAP_INSERT, make.new_accumulator(), entry)
    return _fold(make, target, variables, _collected(make, make.new_map(), step, predicate))


# Bindings: a fold over nothing, whose accumulator is the variable.


def _is_namespace(target: Expr | None, name: str) -> bool:
    return isinstance(target, Ident) and target.name == name


def _bound(make: Builder, variable: str, value: Expr, result: Expr) -> Expr:
    return make.new_fold(
        make.new_list(),
        (_UNUSED, ""),
        (variable, value),
        make.new_literal(False),
        make.new_ident(variable),
        result,
    )


def _bind(make: Builder, target: Expr | None, args: Args) -> Expr | None:
    if not _is_namespace(target, "cel"):
        return None
    variable, value, result = args
    if not isinstance(variable, Ident):
        raise make.error(variable, "cel.bind() variable names must be simple identifiers")
    return _bound(make, variable.name, value, result)


def _optional_map(make: Builder, target: Expr, args: Args) -> Expr:
    variable, result = args
    if not isinstance(variable, Ident):
        raise make.error(variable, "optMap() variable name must be a simple identifier")
    has_value = make.new_member_call("hasValue", target)
    bound = _bound(make, variable.name, make.new_member_call("value", make.copy(target)), result)
    return make.new_call("_?_:_", has_value, make.new_call("optional.of", bound), make.new_call("optional.none"))


def _optional_flat_map(make: Builder, target: Expr, args: Args) -> Expr:
    variable, result = args
    if not isinstance(variable, Ident):
        raise make.error(variable, "optFlatMap() variable name must be a simple identifier")
    has_value = make.new_member_call("hasValue", target)
    bound = _bound(make, variable.name, make.new_member_call("value", make.copy(target)), result)
    return make.new_call("_?_:_", has_value, bound, make.new_call("optional.none"))


# math.greatest and math.least take any number of arguments and check literals early.


def _may_be_number(argument: Expr) -> bool:
    """Whether the argument could be a number: a literal of another kind, a list, a map or a message cannot."""
    match argument:
        case Literal(value=value):
            return value is UNKNOWN or (isinstance(value, int | float) and not isinstance(value, bool))
        case ListExpr() | MapExpr() | StructExpr():
            return False
        case _:
            return True


def _extremum(word: str, function: str) -> Callable[[Builder, Expr, Args], Expr | None]:
    name = f"math.{word}()"

    def expand(make: Builder, target: Expr, args: Args) -> Expr | None:
        if not _is_namespace(target, "math"):
            return None
        if not args:
            raise make.error(target, f"{name} requires at least one argument")
        if len(args) == 1:
            (only,) = args
            elements = only.elements if isinstance(only, ListExpr) else ()
            if _may_be_number(only) or (elements and all(map(_may_be_number, elements))):
                return make.new_call(function, only)
            raise make.error(only, f"{name} invalid single argument value")
        for argument in args:
            if not _may_be_number(argument):
                raise make.error(argument, f"{name} simple literal arguments must be numeric")
        if len(args) == 2:
            return make.new_call(function, *args)
        return make.new_call(function, make.new_list(*args))

    return expand


def _member(name: str, arg_count: int | None, expand: Callable[..., Expr | None], doc: str) -> Macro:
    return Macro(name, True, arg_count, expand, doc)


STANDARD_MACROS = (
    Macro("has", False, 1, _has, "Whether a field or a map key is there: `has(a.b)`."),
    _member("all", 2, _quantifier(_all), "Whether the predicate holds for every element or key."),
    _member("exists", 2, _quantifier(_exists), "Whether the predicate holds for some element or key."),
    _member("exists_one", 2, _quantifier(_exists_one), "Whether the predicate holds for exactly one element or key."),
    _member("existsOne", 2, _quantifier(_exists_one), "Whether the predicate holds for exactly one element or key."),
    _member("map", 2, _map, "The list of the transformed elements or keys."),
    _member("map", 3, _map, "The list of the transformed elements or keys for which the predicate holds."),
    _member("filter", 2, _filter, "The list of the elements or keys for which the predicate holds."),
)

TWO_VARIABLE_MACROS = (
    _member("all", 3, _two_variable_quantifier(_all), "`all` over index and element, or key and value."),
    _member("exists", 3, _two_variable_quantifier(_exists), "`exists` over index and element, or key and value."),
    _member("existsOne", 3, _two_variable_quantifier(_exists_one), "`existsOne` over two variables."),
    _member("exists_one", 3, _two_variable_quantifier(_exists_one), "`exists_one` over two variables."),
    _member("transformList", 3, _transform_list, "A list made from index and element, or key and value."),
    _member("transformList", 4, _transform_list, "The same, of those for which the predicate holds."),
    _member("transformMap", 3, _transform_map, "A map with the same keys and transformed values."),
    _member("transformMap", 4, _transform_map, "The same, of those for which the predicate holds."),
    _member("transformMapEntry", 3, _transform_map_entry, "A map made from one-entry maps."),
    _member("transformMapEntry", 4, _transform_map_entry, "The same, of those for which the predicate holds."),
)

BINDING_MACROS = (_member("bind", 3, _bind, "`cel.bind(name, value, expression)`: compute a value once and name it."),)

OPTIONAL_MAP_MACROS = (_member("optMap", 2, _optional_map, "Transform the value of an optional, if it has one."),)
OPTIONAL_FLAT_MAP_MACROS = (
    _member("optFlatMap", 2, _optional_flat_map, "Transform the value of an optional into another optional."),
)
OPTIONAL_MACROS = (*OPTIONAL_MAP_MACROS, *OPTIONAL_FLAT_MAP_MACROS)

MATH_MACROS = (
    _member("greatest", None, _extremum("greatest", "math.@max"), "The greatest of the arguments, or of a list."),
    _member("least", None, _extremum("least", "math.@min"), "The least of the arguments, or of a list."),
)
