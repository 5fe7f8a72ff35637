"""The cases that cel-go's parser and checker tests were turned into: same tree, same types, same texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.cel import types
from muster.cel.checker import check
from muster.cel.declarations import Function, Overload, Variable
from muster.cel.environment import Env, Limits
from muster.cel.libraries.optionals import optional_library
from muster.cel.libraries.standard import STANDARD
from muster.cel.libraries.strings import strings_library
from muster.cel.macros import STANDARD_MACROS
from muster.cel.parser import parse
from muster.errors import InvalidExpressionError
from muster.source import Source
from tests.conformance.cel import debug
from tests.conformance.cel.values import proto_type, uses_messages
from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.tree import Tree

MESSAGES = "protobuf messages"

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
        if "tests" in test:
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


def _uses_messages(case: dict[str, Any], env: Env) -> bool:
    if any(uses_messages(variable.type) for variable in env.variables.values()):
        return True
    return env.container.startswith("google.expr") or "google.expr" in case["original"]["expr"]


def _run(case: dict[str, Any], env: Env, second_env: Env) -> CaseResult:
    name = case["original"]["expr"][:120]
    tree: Tree | None = None
    ours: dict[str, str] = {}
    try:
        # The recorded texts of parse errors have no name of the source.
        tree = parse(Source(case["original"]["expr"], ""), env)
        ours["ast"] = debug.parsed(tree.expr)
        checked = check(parse(case["original"]["expr"], second_env), second_env)
    except InvalidExpressionError as error:
        ours["error"] = str(error)
    else:
        ours["checkedAst"] = debug.checked(checked)
    wanted = {key: case[key] for key in ("ast", "checkedAst", "error") if key in case}
    text_ok = None if "error" not in case else ours.get("error") == case["error"]
    ok = all(ours.get(key) == text for key, text in wanted.items() if key != "error") and ("error" in ours) == (
        "error" in wanted
    )
    detail = "" if ok and text_ok is not False else f"\n--- wanted {wanted}\n--- ours   {ours}"
    return CaseResult(name, ok, detail, text_ok=text_ok)


def run_parsing(data: Any) -> Iterator[CaseResult]:
    for case in leaves(data):
        yield _run(case, STANDARD_ENV, SECOND_ENV)


def run_checking(data: Any) -> Iterator[CaseResult]:
    for case in leaves(data):
        env = _declared(CHECKER_ENV, case["original"])
        if _uses_messages(case, env):
            yield CaseResult(case["original"]["expr"][:120], apart=MESSAGES)
        else:
            yield _run(case, env, env)
