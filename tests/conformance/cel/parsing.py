"""The cases that cel-go's parser and checker tests were turned into: same tree, same types, same texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from muster.cel.checking import types
from muster.cel.checking.checker import check
from muster.cel.checking.unification import displayed
from muster.cel.declarations import Function, Overload, Variable
from muster.cel.environment import Env, Limits
from muster.cel.libraries.optionals import optional_library
from muster.cel.libraries.standard import STANDARD
from muster.cel.libraries.strings import strings_library
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.syntax.parser import parse
from muster.errors import InvalidExpressionError
from muster.source import Source
from tests.conformance.cel import debug
from tests.conformance.cel.errors import is_same_class
from tests.conformance.cel.evaluation import same_type
from tests.conformance.cel.messages import MESSAGES, needs_messages
from tests.conformance.cel.values import proto_type
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# cel-go's own parser tests run with these limits.
LIMITS = Limits(recursion=32, recovery_attempts=4, recovery_lookahead=4)
STANDARD_ENV = Env().extend(STANDARD, macros=STANDARD_MACROS, limits=LIMITS)
# The variables that cel-go's checker tests declare unless a test brings its own.
DEFAULT_VARIABLES = (
    Variable("is", types.STRING),
    Variable("ii", types.INT),
    Variable("iu", types.UINT),
    Variable("iz", types.BOOL),
    Variable("ib", types.BYTES),
    Variable("id", types.DOUBLE),
    Variable("ix", types.NULL),
)
CHECKER_ENV = STANDARD_ENV.extend(optional_library(0), variables=DEFAULT_VARIABLES)
# What was checked after parsing knew the string functions, but not the newer name of one macro.
SECOND_ENV = Env().extend(
    STANDARD,
    strings_library(),
    macros=[macro for macro in STANDARD_MACROS if macro.name != "existsOne"],
    limits=LIMITS,
)


def leaves(suite: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for test in suite["tests"]:
        if isinstance(test, dict) and "tests" in test:
            yield from leaves(test)
        else:
            yield test


def _declared(env: Env, original: dict[str, Any]) -> Env:
    variables, functions = [], []
    for declaration in original.get("typeEnv", ()):
        name = declaration["name"]
        if "ident" in declaration:
            variables.append(Variable(name, proto_type(declaration["ident"]["type"])))
        else:
            overloads = declaration["function"]["overloads"]
            functions.append(Function(name, tuple(_overload(overload) for overload in overloads)))
    return env.extend(variables=variables, functions=functions, container=original.get("container", ""))


def _overload(recorded: dict[str, Any]) -> Overload:
    return Overload(
        recorded["overloadId"],
        tuple(map(proto_type, recorded.get("params", ()))),
        proto_type(recorded["resultType"]),
        member=recorded.get("isInstanceFunction", False),
    )


def _run(env: Env, second_env: Env, expr: str) -> dict[str, str]:
    """The tree, the checked tree, or the errors."""
    ours: dict[str, str] = {}
    try:
        # The recorded texts of parse errors have no name of the source.
        tree = parse(Source(expr, ""), env)
        ours["ast"] = debug.parsed(tree.expr)
        checked = check(parse(expr, second_env), second_env)
    except InvalidExpressionError as error:
        ours["error"] = str(error)
    else:
        ours["checkedAst"] = debug.checked(checked)
        ours["type"] = displayed(checked.result_type)
    return ours


def run_parsing(case: Mapping[str, Any]) -> dict[str, str]:
    return _run(STANDARD_ENV, SECOND_ENV, case["original"]["expr"])


def run_checking(case: Mapping[str, Any]) -> dict[str, str]:
    env = _declared(CHECKER_ENV, case["original"])
    return _run(env, env, case["original"]["expr"])


ONE_CEL_GO: Final = "One cel-go for all versions"
_no_type = re.compile(r"'[^']*' is not a type")


def classify(case: Mapping[str, Any]) -> Kind:
    original = case["original"]
    declared = {each["name"]: str(each) for each in original.get("typeEnv", ())}
    needs = needs_messages(original["expr"], original.get("container", ""), declared, case.get("type"))
    if needs:
        return Apart(MESSAGES)
    return Rule(ONE_CEL_GO) if _no_type.search(case.get("error", "")) else PLAIN


def judge(case: Mapping[str, Any], kind: Kind, ours: dict[str, str]) -> Verdict:
    """Trees and types as recorded; an error where one was, of its class, with its text in a column of its own."""
    if isinstance(kind, Rule):
        # A variable's name is no type's: cel-go once found the variable and said so, and now looks among types alone.
        name = case["original"]["expr"].partition("{")[0]
        case = {**case, "error": _no_type.sub(f"undeclared reference to '{name}' (in container '')", case["error"])}
    wrong = [
        f"{name}: {ours.get(name)!r} instead of {case[name]!r}"
        for name in ("ast", "checkedAst")
        if name in case and ours.get(name) != case[name]
    ]
    if "type" in case and "type" in ours and not same_type(case["type"], ours["type"]):
        wrong.append(f"type: {ours['type']} instead of {case['type']}")
    if ("error" in case) != ("error" in ours):
        wrong.append(f"error: {ours.get('error')!r} instead of {case.get('error')!r}")
    if "error" not in case or "error" not in ours:
        return Verdict(tuple(wrong))
    if not is_same_class(case["error"], ours["error"]):
        wrong.append(f"error: {ours['error']!r} instead of {case['error']!r}")
    same = ours["error"] == case["error"]
    return Verdict(tuple(wrong), same, remarks="" if same else f"error {ours['error']!r} instead of {case['error']!r}")


def _name(case: Mapping[str, Any]) -> str:
    return str(case["original"]["expr"][:120])


_SHAPE = {
    **dict.fromkeys(keys("ast checkedAst type error note")),
    "original": dict.fromkeys(
        keys(
            "expr typeEnv container name description disableCheck disableMacros checkOnly value typedResult "
            "bindings evalError unknown anyEvalErrors matcher locale"
        )
    ),
}
PARSING = Suite(leaves, _name, lambda _: PLAIN, by(run_parsing), judge, _SHAPE)
CHECKING = Suite(leaves, _name, classify, by(run_checking), judge, _SHAPE)
