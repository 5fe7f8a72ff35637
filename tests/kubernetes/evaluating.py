"""Policies, evaluated by our own CEL as an API server would: conditions, then validations, once for each parameter.

The `authorizer` of Kubernetes is a map here that grows with each call, and a set of permissions that decides. For tests
without a server; a real one runs in `test_admission_table`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from muster.cel import Variable, environment, make_program
from muster.cel.checking.types import BOOL, DYN, STRING
from muster.cel.declarations import Function
from muster.cel.libraries.declare import method
from muster.hub.custom.rules import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from muster.cel import Program
    from muster.values.json import JsonObject

#: verb, group, resource, subresource, name
Asked = tuple[str, str, str, str, str]


def _step(name: str) -> Function:
    def take(asked: Any, value: str) -> dict[str, Any]:
        return {**asked, name: value}

    return Function(name, (method(f"authorizer_{name}", (DYN, STRING), DYN, take),), doc="", examples={})


def _allowed(asked: Any) -> bool:
    parts = ("check", "group", "resource", "subresource", "name")
    return "|".join(asked.get(part, "") for part in parts) in asked["may"]


_STEPS = [_step(name) for name in ("group", "resource", "subresource", "namespace", "name", "check")]
_ENVIRONMENT = environment(ENVIRONMENT).extend(
    variables=[Variable(name, DYN) for name in ("object", "oldObject", "params", "request", "variables", "authorizer")],
    functions=[
        *_STEPS,
        Function("allowed", (method("authorizer_allowed", (DYN,), BOOL, _allowed),), doc="", examples={}),
    ],
)


@cache
def _program(text: str) -> Program:
    return make_program(text, _ENVIRONMENT)


def refusals(
    objects: Sequence[JsonObject],
    plural: str,
    new: JsonObject,
    old: JsonObject | None,
    parameters: Sequence[JsonObject],
    may: Collection[Asked],
    user: str = "alice",
) -> Iterator[str]:
    """The words of every validating policy that refuses a write."""
    given: dict[str, Any] = {
        "object": new,
        "oldObject": old,
        "request": {"userInfo": {"username": user}, "operation": "CREATE" if old is None else "UPDATE"},
        "authorizer": {"may": ["|".join(each) for each in may]},
    }
    for policy in objects:
        if policy["kind"] != "ValidatingAdmissionPolicy" or not _is_about(
            policy, plural, given["request"]["operation"]
        ):
            continue
        for each in parameters if "paramKind" in policy["spec"] else (None,):
            yield from _asked(policy["spec"], {**given, "params": each})


def _is_about(policy: JsonObject, plural: str, operation: str) -> bool:
    rules = policy["spec"]["matchConstraints"]["resourceRules"]
    return any(plural in rule["resources"] and operation in rule["operations"] for rule in rules)


def _asked(spec: JsonObject, given: dict[str, Any]) -> Iterator[str]:
    evaluate: Callable[[str], Any] = lambda text: _program(text).evaluate(given)  # noqa: E731
    if not all(evaluate(each["expression"]) for each in spec.get("matchConditions", ())):
        return
    variables: dict[str, Any] = {}
    given["variables"] = variables
    for each in spec.get("variables", ()):
        variables[each["name"]] = evaluate(each["expression"])
    for each in spec["validations"]:
        if not evaluate(each["expression"]):
            yield evaluate(each["messageExpression"])
