"""Policies as objects: a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy, and the binding that puts it in force.

The modules of rules call this; it knows no rule. A policy about permissions refuses when it cannot be evaluated
(`failurePolicy: Fail`), everything else lets pass. Subresources are never matched: no policy stands in the way of a
status or a heartbeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION: Final = "admissionregistration.k8s.io/v1"
CREATE, UPDATE = "CREATE", "UPDATE"


@dataclass(frozen=True, slots=True)
class Matched:
    """Which writes a policy looks at: operations on resources of a group, and conditions by their names."""

    resources: Mapping[str, tuple[str, ...]]  # by group
    operations: tuple[str, ...] = (CREATE, UPDATE)
    conditions: Mapping[str, str] | None = None

    def to_spec(self) -> JsonObject:
        # Every version: the rules read all of them, and nothing has to be converted before a rule is asked.
        rules: list[JsonObject] = [
            {
                "apiGroups": [group],
                "apiVersions": ["*"],
                "operations": list(self.operations),
                "resources": list(resources),
            }
            for group, resources in self.resources.items()
        ]
        spec: JsonObject = {"matchConstraints": {"resourceRules": rules}}
        if self.conditions:
            spec["matchConditions"] = [
                {"name": name, "expression": expression} for name, expression in self.conditions.items()
            ]
        return spec


@dataclass(frozen=True, slots=True)
class Validation:
    """What must be true, and the refusal: an expression of its words, and words for when that cannot be evaluated."""

    expression: str
    message: str
    message_expression: str

    def to_spec(self) -> JsonObject:
        return {
            "expression": self.expression,
            "message": self.message,
            "messageExpression": self.message_expression,
            "reason": "Forbidden",
        }


@dataclass(frozen=True, slots=True)
class Parameters:
    """The kind of objects that a policy is asked once for each of. Without any it has nothing to say."""

    api_version: str
    kind: str


def permission_policy(
    name: str,
    matched: Matched,
    *validations: Validation,
    variables: Mapping[str, str] | None = None,
    parameters: Parameters | None = None,
) -> list[JsonObject]:
    """A policy about permissions, and its binding."""
    spec: JsonObject = {"failurePolicy": "Fail"}
    binding: JsonObject = {"policyName": name, "validationActions": ["Deny"]}
    if parameters is not None:
        spec["paramKind"] = {"apiVersion": parameters.api_version, "kind": parameters.kind}
        binding["paramRef"] = {"selector": {}, "parameterNotFoundAction": "Allow"}
    spec |= matched.to_spec()
    if variables:
        spec["variables"] = [{"name": each, "expression": expression} for each, expression in variables.items()]
    spec["validations"] = [each.to_spec() for each in validations]
    return [
        _object("ValidatingAdmissionPolicy", name, spec),
        _object("ValidatingAdmissionPolicyBinding", name, binding),
    ]


def mutation_policy(name: str, matched: Matched, applied: str) -> list[JsonObject]:
    """A policy that fills something in, and its binding. `applied` is the expression of what is applied."""
    spec: JsonObject = {
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "Never",
        **matched.to_spec(),
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": applied}}],
    }
    binding: JsonObject = {"policyName": name}
    return [_object("MutatingAdmissionPolicy", name, spec), _object("MutatingAdmissionPolicyBinding", name, binding)]


def _object(kind: str, name: str, spec: JsonObject) -> JsonObject:
    return {"apiVersion": _VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
