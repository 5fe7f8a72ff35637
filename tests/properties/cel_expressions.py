"""Strategies for CEL: expressions that type-check in the `muster` environment, and inputs for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from muster.cel.checking import types
from muster.cel.declarations import Variable
from muster.cel.environments import environment

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

VARIABLES = (
    Variable("m", types.map_of(types.STRING, types.DYN)),
    Variable("l", types.list_of(types.DYN)),
    Variable("d", types.DYN),
    Variable("s", types.STRING),
    Variable("n", types.INT),
)
FIELDS = ("a", "b", "name", "value")
ENVIRONMENTS = {
    name: environment(name).extend(variables=VARIABLES) for name in ("muster", "kubernetes-1.37", "standard")
}

words = st.sampled_from(("", "a", "b", "x", "ab", "eleven chars", "name", "1", "v1.2.3", "é"))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.sampled_from((0.0, 1.0, 2.5, float("nan"))), words
)
values: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(FIELDS), values, max_size=4)


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    """Variables; now and then one is missing or of another type than declared."""
    made: dict[str, Any] = {
        "m": draw(objects),
        "l": draw(st.lists(st.one_of(objects, values), max_size=4)),
        "d": draw(values),
        "s": draw(words),
        "n": draw(st.integers(-3, 9)),
    }
    if draw(st.integers(0, 9)) == 0:
        made.pop(draw(st.sampled_from(sorted(made))))
    if draw(st.integers(0, 4)) == 0:
        made[draw(st.sampled_from(("s", "n", "l")))] = draw(values)
    return made


def _text(draw: st.DrawFn) -> str:
    return "'" + draw(words) + "'"


@st.composite
def dynamic(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> str:
    """An expression of type dyn: a path into the inputs."""
    root = draw(st.sampled_from(("m", "d", *names)))
    path = root
    for _ in range(draw(st.integers(0, 2)) if root != "m" else draw(st.integers(1, 3))):
        step = draw(st.integers(0, 4))
        if step <= 2:
            path += f".{draw(st.sampled_from(FIELDS))}"
        elif step == 3:
            path += f"['{draw(st.sampled_from(FIELDS))}']"
        else:
            path += f"[{draw(st.integers(0, 2))}]" if "." in path or "[" in path or root != "m" else ".a"
    if depth > 0 and draw(st.integers(0, 5)) == 0:
        condition = draw(boolean(depth - 1, names))
        return f"dyn({condition} ? {path} : dyn({draw(number(0, names))}))"
    return path


@st.composite
def number(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> str:
    if depth <= 0:
        return draw(st.sampled_from(("n", "0", "1", "2", "10", "9223372036854775807")))
    inner = number(depth - 1, names)
    match draw(st.integers(0, 6)):
        case 0:
            return f"({draw(inner)} {draw(st.sampled_from('+-*/%'))} {draw(inner)})"
        case 1:
            return f"size({draw(collection(depth - 1, names))})"
        case 2:
            return f"size({draw(text(depth - 1, names))})"
        case 3:
            return f"({draw(boolean(depth - 1, names))} ? {draw(inner)} : {draw(inner)})"
        case 4:
            return f"cel.bind(b{depth}, {draw(inner)}, b{depth} + {draw(inner)})"
        case _:
            return draw(number(0, names))


@st.composite
def text(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> str:
    if depth <= 0:
        return draw(st.one_of(st.just("s"), st.builds(lambda word: f"'{word}'", words)))
    match draw(st.integers(0, 5)):
        case 0:
            return f"({draw(text(depth - 1, names))} + {draw(text(depth - 1, names))})"
        case 1:
            return f"string({draw(dynamic(depth - 1, names))})"
        case 2:
            return f"{draw(text(depth - 1, names))}.replace({_text(draw)}, {_text(draw)})"
        case 3:
            return f"{draw(text(depth - 1, names))}.lowerAscii()"
        case _:
            return draw(text(0, names))


@st.composite
def collection(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> str:
    if depth <= 0:
        return draw(st.sampled_from(("l", "[1, 2, 3]", "[]", "['a', 'b']")))
    variable = f"x{depth}{len(names)}"
    inside = (*names, variable)
    match draw(st.integers(0, 6)):
        case 0:
            return f"l.map({variable}, {draw(dynamic(depth - 1, inside))})"
        case 1:
            return f"l.filter({variable}, {draw(boolean(depth - 1, inside))})"
        case 2:
            return f"[{draw(dynamic(depth - 1, names))}, {draw(dynamic(depth - 1, names))}]"
        case 3:
            return f"(l + [dyn({draw(number(depth - 1, names))})])"
        case 4:
            return f"l.transformList(i{depth}, {variable}, {draw(boolean(depth - 1, inside))}, {variable})"
        case _:
            return draw(collection(0, names))


@st.composite
def boolean(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> str:
    if depth <= 0:
        return draw(st.sampled_from(("true", "false", "n > 2", "s == 'a'", "has(m.a)", "d == 1")))
    below = depth - 1
    inner = boolean(below, names)
    variable = f"y{depth}{len(names)}"
    inside = (*names, variable)
    match draw(st.integers(0, 17)):
        case 0 | 1:
            return f"({draw(inner)} && {draw(inner)})"
        case 2 | 3:
            return f"({draw(inner)} || {draw(inner)})"
        case 4:
            return f"!{draw(inner)}"
        case 5:
            return f"({draw(inner)} ? {draw(inner)} : {draw(inner)})"
        case 6:
            other = st.one_of(dynamic(below, names), number(0, names), text(0, names))
            return f"{draw(dynamic(below, names))} == {draw(other)}"
        case 7:
            return f"{draw(dynamic(below, names))} != {_text(draw)}"
        case 8:
            operator = draw(st.sampled_from(("<", "<=", ">", ">=", "==")))
            return f"{draw(number(below, names))} {operator} {draw(number(below, names))}"
        case 9:
            return f"{draw(dynamic(below, names))} {draw(st.sampled_from(('<', '>=')))} {draw(number(0, names))}"
        case 10:
            macro = draw(st.sampled_from(("exists", "all", "exists_one")))
            return f"{draw(collection(below, names))}.{macro}({variable}, {draw(boolean(below, inside))})"
        case 11:
            return f"has({draw(dynamic(0, names))}.{draw(st.sampled_from(FIELDS))})"
        case 12:
            method = draw(st.sampled_from(("startsWith", "endsWith", "contains", "matches")))
            return f"{draw(text(below, names))}.{method}({_text(draw)})"
        case 13:
            return f"{draw(dynamic(below, names))} in {draw(collection(below, names))}"
        case 14:
            field = draw(st.sampled_from(FIELDS))
            return f"{draw(dynamic(0, names))}.?{field}.orValue({_text(draw)}) == {_text(draw)}"
        case 15:
            return f"cel.bind(c{depth}, {draw(dynamic(below, names))}, {draw(inner)} || c{depth} == 1)"
        case 16:
            quantifier = draw(st.sampled_from(("exists", "all")))
            return f"m.{quantifier}({variable}, {variable} == {_text(draw)} || {draw(inner)})"
        case _:
            return f"semver({draw(dynamic(0, names))}, true).isGreaterThan(semver('1.0.0', true))"


expressions = st.integers(0, 4).flatmap(
    lambda depth: st.one_of(
        boolean(depth, ()), number(depth, ()), text(depth, ()), collection(depth, ()), dynamic(depth, ())
    )
)
