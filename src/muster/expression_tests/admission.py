"""Policies and match conditions, asked as the API server asks them.

ValidatingAdmissionPolicy: match conditions, then variables, then every validation; an error counts as the failure
policy says. Match conditions of webhooks and of MutatingAdmissionPolicies are conditions alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cel import ObjectTypes, Variable
from muster.cel.checking.types import BOOL, DYN, NULL, STRING, list_of, map_of, struct
from muster.cel.libraries.kubernetes.authorizer import (
    AUTHORIZATION,
    VARIABLES,
    Asked,
    authorizer_value,
    resource_check_value,
)
from muster.errors import EvaluationError, InvalidObjectError
from muster.expression_tests.authorizing import authorizer_of
from muster.expression_tests.expressions import compiled
from muster.expression_tests.outcome import ALLOWED, DENIED, NOT_MATCHED, Outcome
from muster.hub.custom.cel_types import declared, named_types
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel import Env
    from muster.cel.checking.types import Type
    from muster.cel.values.value import Value
    from muster.expression_tests.expressions import Expression

FIELDS: Final = ("object", "oldObject", "params", "request", "namespaceObject", "authorizer")
_GROUP_KIND: Final = {"group": STRING, "version": STRING, "kind": STRING}
_GROUP_RESOURCE: Final = {"group": STRING, "version": STRING, "resource": STRING}
_REQUEST: Final[Mapping[str, Mapping[str, Type]]] = {
    "kubernetes.AdmissionRequest": {
        "kind": struct("kubernetes.GroupVersionKind"),
        "resource": struct("kubernetes.GroupVersionResource"),
        "subResource": STRING,
        "requestKind": struct("kubernetes.GroupVersionKind"),
        "requestResource": struct("kubernetes.GroupVersionResource"),
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": struct("kubernetes.UserInfo"),
        "dryRun": BOOL,
        "options": DYN,
    },
    "kubernetes.UserInfo": {
        "username": STRING,
        "uid": STRING,
        "groups": list_of(STRING),
        "extra": map_of(STRING, list_of(STRING)),
    },
    "kubernetes.GroupVersionKind": _GROUP_KIND,
    "kubernetes.GroupVersionResource": _GROUP_RESOURCE,
}
_NOTHING_GIVEN: Final[JsonObject] = {
    "name": "",
    "namespace": "",
    "operation": "CREATE",
    "subResource": "",
    "requestSubResource": "",
    "dryRun": False,
    "userInfo": {"username": "", "uid": "", "groups": [], "extra": {}},
    "options": None,
}
_NO_KIND: Final = {"group": "", "version": "", "kind": ""}
_NO_RESOURCE: Final = {"group": "", "version": "", "resource": ""}


def admission_environment(base: Env, schema: Schema | None, variables: Mapping[str, Type] | None = None) -> Env:
    """What expressions of admission may use; objects have the type of a schema, where there is one."""
    types = {**_REQUEST, "kubernetes.variables": dict(variables or {})}
    whole: Type = DYN
    if schema is not None and (node := declared(schema, root=True)) is not None:
        whole, named = named_types(node)
        types |= named
    names = (("object", whole), ("oldObject", whole), ("params", DYN), ("namespaceObject", DYN))
    declarations = [Variable(name, type_) for name, type_ in names]
    declarations.append(Variable("request", struct("kubernetes.AdmissionRequest")))
    if variables is not None:
        declarations.append(Variable("variables", struct("kubernetes.variables")))
    return base.extend(AUTHORIZATION, types=ObjectTypes(types), variables=(*declarations, *VARIABLES))


def case_variables(case: JsonMapping, place: str) -> dict[str, Value]:
    """The variables of a case, whatever it leaves out. Raises InvalidObjectError."""
    written = case.get("request")
    if written is not None and not isinstance(written, dict):
        raise InvalidObjectError(place, "request is an object")
    given: JsonObject = written or {}
    obj, old = case.get("object"), case.get("oldObject")
    operation = "DELETE" if obj is None else "CREATE" if old is None else "UPDATE"
    metadata = _metadata(obj if obj is not None else old)
    user = given.get("userInfo")
    request: JsonObject = {
        **_NOTHING_GIVEN,
        "operation": operation,
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        **given,
        "userInfo": {**_NOTHING_GIVEN["userInfo"], **(user if isinstance(user, dict) else {})},
    }
    for name, nothing in (("kind", _NO_KIND), ("requestKind", _NO_KIND)):
        request[name] = {**nothing, **_of_kind(obj if obj is not None else old), **request.get(name, {})}
    for name in ("resource", "requestResource"):
        request[name] = {**_NO_RESOURCE, **request.get(name, {})}
    decide = authorizer_of(case.get("authorizer"), place)
    asked = Asked(
        group=request["resource"]["group"],
        resource=request["resource"]["resource"],
        subresource=request["subResource"],
        namespace=request["namespace"],
        name=request["name"],
    )
    return {
        "object": obj,
        "oldObject": old,
        "params": case.get("params"),
        "namespaceObject": case.get("namespaceObject"),
        "request": request,
        "authorizer": authorizer_value(decide),
        "authorizer.requestResource": resource_check_value(decide, asked),
    }


def _metadata(obj: Json) -> JsonObject:
    found = obj.get("metadata") if isinstance(obj, dict) else None
    return found if isinstance(found, dict) else {}


def _of_kind(obj: Json) -> JsonObject:
    if not isinstance(obj, dict) or not isinstance(obj.get("apiVersion"), str):
        return {}
    group, _, version = obj["apiVersion"].rpartition("/")
    return {"group": group, "version": version, "kind": obj.get("kind", "")}


class Conditions:
    """Match conditions: all must hold. Of a webhook, or of a policy."""

    def __init__(self, written: Json, env: Env, place: str) -> None:
        self.expressions = [
            compiled(f"{where}.expression", _text(each, "expression", where), env, (BOOL,))
            for where, each in _entries(written, place)
        ]

    def hold(self, variables: Mapping[str, Value]) -> bool | EvaluationError:
        """One that says no decides, whatever others fail with."""
        values = [each.ask(variables) for each in self.expressions]
        if any(value is False for value in values):
            return False
        return next((value for value in values if isinstance(value, EvaluationError)), True)

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        found = self.hold(case_variables(case, place))
        if isinstance(found, EvaluationError):
            return Outcome(DENIED, str(found))
        return Outcome(ALLOWED if found else NOT_MATCHED)


class Policy:
    """A ValidatingAdmissionPolicy."""

    def __init__(self, manifest: JsonMapping, base: Env, schema: Schema | None, place: str) -> None:
        spec = manifest.get("spec")
        if not isinstance(spec, dict):
            raise InvalidObjectError(place, "spec is missing")
        self._ignores = spec.get("failurePolicy") == "Ignore"
        self.conditions = Conditions(
            spec.get("matchConditions"), admission_environment(base, schema), f"{place}: spec.matchConditions"
        )
        types: dict[str, Type] = {}
        self._variables: dict[str, Expression] = {}
        for where, each in _entries(spec.get("variables"), f"{place}: spec.variables"):
            name = _text(each, "name", where)
            env = admission_environment(base, schema, types)
            found = compiled(f"{where}.expression", _text(each, "expression", where), env)
            self._variables[name] = found
            types[name] = found.program.result_type
        env = admission_environment(base, schema, types)
        self._validations: list[tuple[JsonMapping, Expression, Expression | None]] = []
        for where, each in _entries(spec.get("validations"), f"{place}: spec.validations"):
            told = each.get("messageExpression")
            self._validations.append(
                (
                    each,
                    compiled(f"{where}.expression", _text(each, "expression", where), env, (BOOL,)),
                    compiled(f"{where}.messageExpression", told, env, (STRING, NULL)) if told else None,
                )
            )
        self._notes = [
            (
                _text(each, "key", where),
                compiled(f"{where}.valueExpression", _text(each, "valueExpression", where), env, (STRING, NULL)),
            )
            for where, each in _entries(spec.get("auditAnnotations"), f"{place}: spec.auditAnnotations")
        ]

    @property
    def expressions(self) -> list[Expression]:
        told = [each for _, _, each in self._validations if each is not None]
        asked = [each for _, each, _ in self._validations]
        notes = [each for _, each in self._notes]
        return [*self.conditions.expressions, *self._variables.values(), *asked, *told, *notes]

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        variables = case_variables(case, place)
        matched = self.conditions.hold(variables)
        if isinstance(matched, EvaluationError):
            return self._failed(str(matched))
        if not matched:
            return Outcome(NOT_MATCHED)
        variables["variables"] = self._lazily(variables)
        outcomes = [self._validated(each, variables) for each in self._validations]
        notes = {key: str(value) for key, each in self._notes if isinstance(value := each.ask(variables), str)}
        messages = [each.message for each in outcomes if each.verdict == DENIED]
        verdict = DENIED if messages else ALLOWED
        return Outcome(verdict, "; ".join(messages), notes)

    def _lazily(self, variables: Mapping[str, Value]) -> dict[str, Value]:
        """Variables in their order: later ones may use earlier ones. One that fails is an error where it is used."""
        found: dict[str, Value] = {}
        for name, each in self._variables.items():
            found[name] = each.ask({**variables, "variables": found})
        return found

    def _validated(
        self, validation: tuple[JsonMapping, Expression, Expression | None], variables: Mapping[str, Value]
    ) -> Outcome:
        written, expression, told = validation
        value = expression.ask(variables)
        if isinstance(value, EvaluationError):
            return self._failed(f"expression '{expression.program.text}' resulted in error: {value}")
        if value is True:
            return Outcome(ALLOWED)
        message = told.ask(variables) if told is not None else None
        if not isinstance(message, str) or not message.strip() or "\n" in message.strip():
            message = written.get("message") or f"failed expression: {expression.program.text.strip()}"
        return Outcome(DENIED, message.strip())

    def _failed(self, why: str) -> Outcome:
        return Outcome(ALLOWED if self._ignores else DENIED, "" if self._ignores else why)


def _entries(written: Json, place: str) -> list[tuple[str, JsonObject]]:
    if written is None:
        return []
    if not isinstance(written, list) or not all(isinstance(each, dict) for each in written):
        raise InvalidObjectError(place, "is a list of objects")
    return [(f"{place}[{number}]", each) for number, each in enumerate(written)]


def _text(entry: JsonMapping, name: str, place: str) -> str:
    found = entry.get(name)
    if not isinstance(found, str):
        raise InvalidObjectError(place, f"{name} is missing")
    return found
