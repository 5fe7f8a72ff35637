"""Random JSON values and random queries for the laws of jq. Queries are well formed and often fail when run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

KEYS = ("a", "b", "c")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([1.5, -0.5, 2.0, 10**18, 10**25]),
    st.sampled_from(["", "a", "b", "ab", "x y", "é", "2015-03-05T23:51:47Z", "12"]),
)

values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    ),
    max_leaves=8,
)


@dataclass(frozen=True)
class Names:
    """What a query may mention at some place."""

    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


NO_NAMES = Names()

LEAVES = (
    ".", ".", ".a", ".b", ".c", ".[0]", ".[-1]", ".[]", ".[]?", ".a?", ".a.b", '."c"', ".[1:]", ".[:2]", "..", "1",
    "2", "-1", "0", "1.5", "null", "true", "false", '"a"', '"x"', "[]", "{}", "empty", "error", "length", "keys",
    "type", "not", "add", "tostring", "tojson", "first", "last", "reverse", "sort", "unique", "to_entries",
    "from_entries", "flatten", "min", "max", "any", "all", "values", "scalars", "objects", "arrays", "numbers",
    "strings", "ascii_downcase", "explode", "floor", "tonumber", "paths", "tostream", "transpose", "keys[]",
    "to_entries[]", "@json", "@text", "@base64", "@csv", "@sh", "abs", "range(3)", "combinations", "trim",
    'ltrimstr("a")', "nan", "infinite", "env", "$ENV",
)  # fmt: skip

_ONE = (
    "map({})", "select({})", "[{}]", "({})?", "try ({})", "first({})", "last({})", "any({})", "all({})",
    "isempty({})", "path({})", "del({})", "paths({})", "sort_by({})", "group_by({})", "min_by({})", "max_by({})",
    "unique_by({})", "map_values({})", "with_entries({})", "recurse({}; . != null)", "limit(2; {})", "skip(1; {})",
    "nth(1; {})", "walk({})", "to_entries | map({})", "[.[]? | {}]", "-({})", "has({})", "getpath([{}])", "pick(.a)",
    "error({})", "(({}) | not)", "add({})", "IN({})", 'until(type == "null" or . == []; {})',
    "[limit(3; repeat({}))]", "[limit(5; recurse({}))]", "[limit(4; while(. != null; {}))]", 'test("a")',
    '[splits("a")]', 'sub("a"; {} | tostring)', "{{a: ({})}}", "{{({} | tostring): .}}", '"<\\({})>"',
    '@html "\\({})"', "ltrimstr({})", "join({})", "index({})", "inside({})", "contains({})", "startswith({})",
    "flatten({})", "range({})", "INDEX({})", "[fromstream(tostream | {})]", "tojson | fromjson",
)  # fmt: skip

_TWO = (
    "{} | {}", "{} | {}", "{}, {}", "({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / ({})", "({}) % ({})",
    "({}) == ({})", "({}) != ({})", "({}) < ({})", "({}) >= ({})", "({}) and ({})", "({}) or ({})", "({}) // ({})",
    "({}) |= ({})", "({}) = ({})", "({}) += ({})", "({}) //= ({})", "try ({}) catch ({})", "any({}; {})",
    "all({}; {})", ".[{}]?", ".[{}:{}]", "{{a: ({}), b: ({})}}", "{{(({}) | tostring): ({})}}", "[{}, {}]",
    "IN({}; {})", "range({}; {})", 'setpath(["a"]; {}) | {}', "limit({}; {})", "INDEX({}; {})", '"\\({})-\\({})"',
    "({}) as [$p, {{a: $q}}] | [$p, $q, ({})]", "({}) as [$p] ?// $p | [$p] | {}",
)  # fmt: skip


@st.composite
def queries(draw: st.DrawFn, depth: int = 3, names: Names = NO_NAMES) -> str:
    """Query text; deeper inside, names bound outside are used."""
    leaves = [*LEAVES, *(f"${name}" for name in names.variables), *names.functions]
    leaves.extend(f"break ${name}" for name in names.labels)
    if depth <= 0:
        return draw(st.sampled_from(leaves))

    def inner(scope: Names = names) -> str:
        return draw(queries(depth - 1, scope))

    kind = draw(st.integers(0, 11))
    if kind <= 2:
        return draw(st.sampled_from(leaves))
    if kind <= 5:
        return draw(st.sampled_from(_ONE)).format(inner())
    if kind <= 8:
        return draw(st.sampled_from(_TWO)).format(inner(), inner())
    if kind == 9:
        condition, then, otherwise = inner(), inner(), inner()
        return f"if {condition} then {then} else {otherwise} end"
    if kind == 10:
        return _binding(draw, depth, names)
    name = f"f{len(names.functions)}"
    known = Names(names.variables, (*names.functions, name), names.labels)
    if draw(st.booleans()):
        body = draw(queries(depth - 1, names))
        return f"(def {name}: {body}; {inner(known)})"
    body = draw(queries(depth - 1, Names(names.variables, (*names.functions, "g"), names.labels)))
    called = Names(names.variables, (*names.functions, f"{name}({inner()})"), names.labels)
    return f"(def {name}(g): {body}; {inner(called)})"


def _binding(draw: st.DrawFn, depth: int, names: Names) -> str:
    variable = f"v{len(names.variables)}"
    known = Names((*names.variables, variable), names.functions, names.labels)
    source = draw(queries(depth - 1, names))
    start = draw(queries(depth - 2, names))
    inner = draw(queries(depth - 1, known))
    match draw(st.integers(0, 4)):
        case 0:
            return f"reduce ({source}) as ${variable} ({start}; {inner})"
        case 1:
            return f"foreach ({source}) as ${variable} ({start}; {inner})"
        case 2:
            extract = draw(queries(depth - 2, known))
            return f"foreach ({source}) as ${variable} ({start}; {inner}; {extract})"
        case 3:
            label = f"l{len(names.labels)}"
            labelled = Names(names.variables, names.functions, (*names.labels, label))
            return f"(label ${label} | {draw(queries(depth - 1, labelled))})"
        case _:
            return f"(({source}) as ${variable} | {inner})"
