"""Every traversal is metered: whatever goes over a value takes the run's meter and uses it. Read from the source.

Values are graphs, so a loop, a recursion or a library call that goes over one is work without end unless it is paid by
visit. A function of the running half of the package that does such a thing and does not use the meter fails here, or
stands in BOUNDED with the reason why its work has an end that no query can move.
"""

from __future__ import annotations

import ast
from pathlib import Path

import muster.jq
from muster.values import json_faults

PACKAGE = Path(muster.jq.__file__).parent
SHARED = {"shared/json_faults": Path(json_faults.__file__)}
"""Modules of other packages that go over a query's values; they charge by a function that they are given."""

COMPILING = frozenset(
    (
        "builtins/__init__", "builtins/definitions",
        "generating/__init__", "generating/cardinality", "generating/base", "generating/expressions",
        "generating/generator", "generating/scope", "generating/short_forms", "generating/single_outputs",
        "generating/inlined_builtins", "generating/writer", "resolving/constant_paths", "resolving/names",
        "resolving/operators", "resolving/resolve", "resolving/resolved", "syntax/lexer", "syntax/module_headers",
        "syntax/parser", "syntax/patterns", "syntax/printer", "syntax/terms", "syntax/token_reader", "syntax/tree",
    )
)  # fmt: skip
"""Modules that see queries, never values. Their own limits are in test_compiling.py."""

BOUNDED = {
    "program._as_evaluation_error": "the variables of the caller; unlike_json looks at 100,000 values and no more",
    "shared/json_faults._Scanner._escape": "four digits",
    "shared/json_faults._Scanner._literal": "five letters",
    "shared/json_faults._Scanner.skip": "as far as it moves, within a text that read_json charged",
    "builtins/bessel._base_j": "90 points",
    "builtins/bessel._downwards": "maths.py charges the order and the argument before",
    "builtins/bessel._hankel": "40 terms",
    "builtins/bessel._positive_j": "maths.py charges the order and the argument before",
    "builtins/bessel._positive_y": "as above; it ends when the value is infinite",
    "builtins/bessel._series_j": "ends when the term is zero, after some 180 steps below 1",
    "builtins/bessel._y0_series": "85 terms, charged by maths.py",
    "builtins/bessel._y1_series": "85 terms, charged by maths.py",
    "builtins/bessel.terms": "two numbers",
    "builtins/maths._fused": "three floats",
    "builtins/maths._greatest": "two floats",
    "builtins/maths._least": "two floats",
    "builtins/regex._next_character": "four bytes",
    "builtins/regex._text": "one group of a match, which was charged",
    "builtins/times._moment": "eight numbers",
    "values/date_parsing._Reader._unlike": "the bytes of one character",
    "values/date_parsing._Reader.digits": "19 digits",
    "values/date_parsing._Reader.name": "twelve names",
    "values/dates._Style.number": "a width of 1,024",
    "values/dates._Style.text": "a width of 1,024",
    "values/dates._directive": "the flags of one directive, once each; format_moment charges the pattern",
    "values/dates._field": "nine directives",
    "values/dates._zone_offset": "three numbers",
    "running/single_output.SimpleEvaluator.one_logic": "parts of the query; each is charged by `one`",
    "running/single_output.SimpleEvaluator.one_pipe": "parts of the query; each is charged by `one`",
    "values/encoding._last_rune": "four bytes",
    "values/encoding.encode_float": "17 digits",
    "values/encoding.encode_integer": "charged by encode_scalar, which alone calls it",
    "values/encoding.encode_string": "one text, which every caller charges",
    "values/encoding.without_surrogates": "one text, which every caller charges",
    "values/numbers.is_number_text": "one text, which to_number charges",
    "values/numbers.parse_integer": "40,000 digits at most, charged by to_number and read_json",
    "values/numbers.parse_number": "as above",
    "running/reference.Evaluator._call": "parameters of the query, each charged as a step",
    "values/regexes._tester": "a plain pattern; `test` charges the text",
    "values/regexes.plain_pattern": "a pattern: of the query itself, or one that compile_regex charges",
    "values/regexes._in_gos_words": "a dozen sentences",
    "values/numbers.to_int": "one number",
    "values/indexing._clamped": "three numbers",
    "running/control_flow.ControlFlow._stages": "stages of the query; each is charged by `one`",
    "values/dates._within_datetime": "two numbers",
    "values/encoding.quote_as_go": "one text, which texts.quoted charges",
    "values/regexes._refused_by_go": "a pattern, which compile_regex charges",
    "program.Program._arguments": "the variables of the query",
    "program._written_nodes": "the nodes of the query",
    "program.compile_query": "the variables of the query",
}
"""Module and function: why its work ends without the meter."""

GOING_OVER = frozenset(
    ("sorted", "sum", "min", "max", "any", "all", "map", "filter", "zip", "list", "dict", "set", "tuple")
)
GOING_OVER_METHODS = frozenset(
    (
        "count", "decode", "encode", "endswith", "find", "findall", "index", "join", "lower", "lstrip", "match",
        "partition", "raw_decode", "removeprefix", "removesuffix", "replace", "rfind", "rjust", "rpartition", "rstrip",
        "search", "sort", "split", "startswith", "strip", "sub", "translate", "update", "upper", "zfill",
    )
)  # fmt: skip
FORBIDDEN = frozenset(("repr", "hash", "print", "eval", "vars", "deepcopy", "copy", "dumps", "loads", "format"))
RULES = tuple(
    f"running/{name}."
    for name in (
        "binding.Binding", "control_flow.ControlFlow", "making.Making", "reference.Evaluator", "rules.RuleEvaluator",
        "updating.Updating",
    )
)  # fmt: skip
"""The rules of the plain evaluator."""
ALLOWED = {"values/encoding.encode_string": {"dumps"}, "values/encoding.encode_float": {"repr"}}
"""One text, one number."""


def functions() -> list[tuple[str, ast.FunctionDef]]:
    found: list[tuple[str, ast.FunctionDef]] = []
    own = {str(file.relative_to(PACKAGE).with_suffix("")): file for file in sorted(PACKAGE.rglob("*.py"))}
    for module, file in {**own, **SHARED}.items():
        if module in COMPILING or module in ("__init__", "budgets"):
            continue
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                found.append((f"{module}.{node.name}", node))
            elif isinstance(node, ast.ClassDef):
                found.extend(
                    (f"{module}.{node.name}.{each.name}", each)
                    for each in node.body
                    if isinstance(each, ast.FunctionDef)
                )
    # What finds a query's reads sees no values.
    return [(name, node) for name, node in found if not name.startswith("resolving/reads.")]


FUNCTIONS = dict(functions())


def goes_over_something(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        match node:
            case ast.For() | ast.While() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return True
            case ast.Call(func=ast.Name(id=name)) if name in GOING_OVER or name == function.name:
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in GOING_OVER_METHODS:
                return True
            case _:
                pass
    return False


def uses_the_meter(function: ast.FunctionDef) -> bool:
    """By charging it, or by handing it on."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Call | ast.AugAssign):
            continue
        used = [node.target] if isinstance(node, ast.AugAssign) else [node.func, *node.args]
        if any(_is_meter(each) or (isinstance(each, ast.Attribute) and _is_meter(each.value)) for each in used):
            return True
    return False


def _is_meter(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="meter") | ast.Attribute(value=ast.Name(id="self"), attr="meter" | "_charge"):
            return True
        case ast.Attribute(value=ast.Name(id="meter"), attr="step"):
            return True  # handed on to be called
        case ast.Call(func=ast.Name(id="Meter")):
            return True
        case ast.BoolOp(values=values):
            return any(map(_is_meter, values))
        case _:
            return False


def pays_by_yielding(name: str, function: ast.FunctionDef) -> bool:
    """Rules of the plain evaluator: whatever they yield is a step that stack.py charges, so each turn must yield."""
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
    return name.startswith(RULES) and all(any(isinstance(node, ast.Yield) for node in ast.walk(loop)) for loop in loops)


def test_what_goes_over_something_uses_the_meter() -> None:
    assert {
        name
        for name, function in FUNCTIONS.items()
        if goes_over_something(function) and not uses_the_meter(function) and not pays_by_yielding(name, function)
    } - BOUNDED.keys() == set()


def test_nothing_prints_copies_or_hashes_a_value_behind_the_meters_back() -> None:
    for name, function in FUNCTIONS.items():
        called = {
            node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
        }
        assert called & FORBIDDEN <= ALLOWED.get(name, set()), name


def test_values_are_compared_by_the_functions_that_pay() -> None:
    """`==` between two parameters that can be anything is Python's own walk; `equal` and `compare` are ours."""
    assert {name for name, function in FUNCTIONS.items() if compares_anything(function)} - COMPARING.keys() == set()


def compares_anything(function: ast.FunctionDef) -> bool:
    anything = {
        each.arg
        for each in (*function.args.posonlyargs, *function.args.args)
        if isinstance(each.annotation, ast.Name) and each.annotation.id in ("Any", "Value")
    }
    return any(
        isinstance(node, ast.Compare)
        and not isinstance(node.ops[0], ast.Is | ast.IsNot)
        and isinstance(node.left, ast.Name)
        and isinstance(node.comparators[0], ast.Name)
        and {node.left.id, node.comparators[0].id} <= anything
        and node.left.id != node.comparators[0].id  # not-a-number
        for node in ast.walk(function)
    )


COMPARING = {
    "values/ordering.compare": "texts, charged before",
    "values/ordering._compare_numbers": "numbers",
    "values/ordering.equal": "scalars, charged before",
    "values/arithmetic.modulo": "numbers: its first lines refuse anything else",
    "builtins/collections.contains": "numbers, and texts charged before",
    "builtins/collections.has": "a text, charged before",
}


def test_no_reason_outlives_its_function() -> None:
    assert {*BOUNDED, *COMPARING} - FUNCTIONS.keys() == set()
    assert {name for name in BOUNDED if not goes_over_something(FUNCTIONS[name])} == set()
    assert {
        name for name in BOUNDED if uses_the_meter(FUNCTIONS[name]) or pays_by_yielding(name, FUNCTIONS[name])
    } == set()


def test_generated_code_has_no_builtins() -> None:
    program = muster.jq.compile_query("[.[] | select(.a > 1)] | map_values(. + 1) | walk(.)")
    assert program.code is not None
    assert program.code.main.__globals__["__builtins__"] == {}
    assert {"open", "eval", "exec", "getattr", "sorted", "__import__"} & program.code.main.__globals__.keys() == set()
