"""Random expressions that parse, as text: for laws about trees."""

from __future__ import annotations

from hypothesis import strategies as st

_NAMES = st.sampled_from(["a", "b", "items", "_x1", "inside"])
_ATOMS = st.one_of(
    _NAMES,
    st.sampled_from(
        ["1", "-2", "0x1f", "3u", "1.5", "-0.0", "1e3", "true", "false", "null", '"s"', "'it\\'s'", "b'\\x00z'"]
    ),
    st.sampled_from(['"\\u00e9\\n"', "r'\\d'", '"""tri"ple"""', "[]", "{}", "[,]", "a.B{}", ".c"]),
)
_BINARY = st.sampled_from(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _BINARY, inner).map(" ".join),
        st.lists(inner, min_size=3, max_size=6).map(" && ".join),
        inner.map("({})".format),
        inner.map("!({})".format),
        inner.map("-({})".format),
        st.tuples(inner, inner, inner).map(lambda parts: "({}) ? ({}) : {}".format(*parts)),
        st.tuples(inner, inner).map(lambda parts: "({})[{}]".format(*parts)),
        st.tuples(inner, inner).map(lambda parts: "({})[?{}]".format(*parts)),
        st.tuples(inner, _NAMES).map(lambda parts: "({}).{}".format(*parts)),
        st.tuples(inner, _NAMES).map(lambda parts: "({}).?{}".format(*parts)),
        inner.map("({}).`odd-name`".format),
        st.tuples(inner, _NAMES).map(lambda parts: "has(({}).{})".format(*parts)),
        st.tuples(inner, inner).map(lambda parts: "({}).f({})".format(*parts)),
        st.lists(inner, max_size=3).map(lambda parts: f"g({', '.join(parts)})"),
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.tuples(inner, inner).map(lambda parts: "{{{}: {}, ?1: 2}}".format(*parts)),
        inner.map("p.M{{f: {}, ?`x-y`: 1}}".format),
        st.tuples(inner, st.sampled_from(["all", "exists", "exists_one", "map", "filter"]), inner).map(
            lambda parts: "({}).{}(v, {})".format(*parts)
        ),
        st.tuples(inner, inner, inner).map(lambda parts: "({}).map(v, {}, {})".format(*parts)),
    )


expressions = st.recursive(_ATOMS, _compound, max_leaves=12)
