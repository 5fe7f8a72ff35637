"""What a table is about: an expression, or the rules of a manifest, ready to be asked about cases.

Which environment counts is said by the version of Kubernetes; types come from definitions that are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from muster.cel import Variable, environment
from muster.cel.checking.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    list_of,
    map_of,
)
from muster.cel.values import check_input
from muster.errors import EvaluationError, InvalidObjectError
from muster.expression_tests.admission import Conditions, Policy, admission_environment
from muster.expression_tests.definitions import DefinitionRules, schema_of
from muster.expression_tests.devices import DeviceSelectors
from muster.expression_tests.expressions import compiled
from muster.expression_tests.outcome import ALLOWED, DENIED, FAILED, VALUE, Outcome
from muster.selectors import spec_of
from muster.selectors.specs import compile_selector
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.cel import Env
    from muster.cel.checking.types import Type
    from muster.expression_tests.expressions import Expression

_TYPES: Final[Mapping[str, Type]] = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "duration": DURATION,
    "dyn": DYN,
    "int": INT,
    "null_type": NULL,
    "string": STRING,
    "timestamp": TIMESTAMP,
    "uint": UINT,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
}
_POLICIES: Final = ("ValidatingAdmissionPolicy",)
_CONDITIONED: Final = ("MutatingAdmissionPolicy",)
_WEBHOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_DEVICES: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
KINDS: Final = (*_POLICIES, *_CONDITIONED, *_WEBHOOKS, "CustomResourceDefinition", *_DEVICES, "Placement")


class Subject(Protocol):
    """Something with expressions that gives an outcome for a case."""

    @property
    def expressions(self) -> Sequence[Expression]: ...

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        """Raises InvalidObjectError for a case that does not say enough."""


class PlainExpression:
    """An expression with the variables that its cases give."""

    def __init__(self, text: str, env: Env, variables: Mapping[str, str], given: Sequence[str], place: str) -> None:
        declared = [Variable(name, type_named(written, place)) for name, written in variables.items()]
        open_ = [name for name in given if name not in env.variables and name not in variables]
        full = env.extend(variables=[*declared, *(Variable(name, DYN) for name in open_)])
        self.expressions = [compiled(place, text, full)]

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        given = case.get("given")
        if given is not None and not isinstance(given, dict):
            raise InvalidObjectError(place, "given has a value for every variable")
        check_input(given, "given")
        value = self.expressions[0].ask(given or {})
        return Outcome(FAILED, str(value)) if isinstance(value, EvaluationError) else Outcome(VALUE, value=value)


class PlacementPredicates:
    """The predicates of a Placement: one must hold."""

    def __init__(self, manifest: JsonMapping, env: Env, place: str) -> None:
        self.expressions: list[Expression] = []
        self._predicates: list[tuple[JsonObject, list[Expression]]] = []
        spec = manifest.get("spec")
        written = spec.get("predicates") if isinstance(spec, dict) else None
        for number, each in enumerate(written if isinstance(written, list) else []):
            selector = each.get("requiredClusterSelector") if isinstance(each, dict) else None
            parts = dict(selector) if isinstance(selector, dict) else {}
            cel = parts.pop("celSelector", None)
            texts = cel.get("celExpressions", []) if isinstance(cel, dict) else []
            where = f"{place}: spec.predicates[{number}].requiredClusterSelector.celSelector.celExpressions"
            found = [compiled(f"{where}[{index}]", text, env, (BOOL,)) for index, text in enumerate(texts)]
            self._predicates.append((parts, found))
            self.expressions += found

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        cluster = case.get("object")
        if not isinstance(cluster, dict):
            raise InvalidObjectError(place, "object is missing: the ManagedCluster that is asked about")
        reasons = []
        for parts, expressions in self._predicates:
            why = _why_not(parts, expressions, cluster)
            if not why:
                return Outcome(ALLOWED)
            reasons.append(why)
        return Outcome(DENIED if reasons else ALLOWED, "; ".join(reasons))


def _why_not(parts: JsonObject, expressions: Sequence[Expression], cluster: JsonObject) -> str:
    if parts:
        match = compile_selector(spec_of(parts)).match(cluster)
        if not match:
            return match.reason
    for each in expressions:
        value = each.ask({"managedCluster": cluster})
        if value is not True:
            return str(value) if isinstance(value, EvaluationError) else f"{each.program.text.strip()} is false"
    return ""


def type_named(written: str, place: str) -> Type:
    """A type as CEL writes it, such as `list(string)`. Raises InvalidObjectError."""
    name, bracket, rest = written.replace(" ", "").partition("(")
    if bracket and rest.endswith(")"):
        inner = rest[:-1]
        if name == "list":
            return list_of(type_named(inner, place))
        key, comma, value = inner.partition(",")
        if name == "map" and comma:
            return map_of(type_named(key, place), type_named(value, place))
    if written not in _TYPES:
        raise InvalidObjectError(
            place, f"{written!r} is not the name of a type: {', '.join(_TYPES)}, list(T), map(K, V)"
        )
    return _TYPES[written]


def manifest_subject(
    manifest: JsonMapping, env: str, place: str, *, schema: Schema | None = None, version: str = "", part: str = ""
) -> Subject:
    """The expressions of a manifest. Raises InvalidObjectError for one that has none, or that does not compile."""
    base = environment(env)
    match manifest.get("kind"):
        case str(kind) if kind in _POLICIES:
            return Policy(manifest, base, schema, place)
        case str(kind) if kind in _CONDITIONED:
            spec = manifest.get("spec")
            written = spec.get("matchConditions") if isinstance(spec, dict) else None
            return Conditions(written, admission_environment(base, schema), f"{place}: spec.matchConditions")
        case str(kind) if kind in _WEBHOOKS:
            number, webhook = _webhook(manifest, part, place)
            where = f"{place}: webhooks[{number}].matchConditions"
            return Conditions(webhook.get("matchConditions"), admission_environment(base, schema), where)
        case "CustomResourceDefinition":
            return DefinitionRules(manifest, base, version, place)
        case str(kind) if kind in _DEVICES:
            return DeviceSelectors(manifest, base, part, place)
        case "Placement":
            return PlacementPredicates(manifest, environment("muster"), place)
        case kind:
            known = ", ".join(KINDS)
            raise InvalidObjectError(place, f"a {kind} has no expressions that are known here; these have: {known}")


def _webhook(manifest: JsonMapping, name: str, place: str) -> tuple[int, JsonObject]:
    webhooks = manifest.get("webhooks")
    found = [
        (number, each)
        for number, each in enumerate(webhooks if isinstance(webhooks, list) else [])
        if isinstance(each, dict) and (not name or each.get("name") == name)
    ]
    if len(found) != 1:
        names = ", ".join(str(each.get("name")) for _, each in found) or "none"
        raise InvalidObjectError(place, f"say with `part` which webhook is meant: {names}")
    return found[0]


def types_from(manifests: Sequence[Json], place: str) -> Schema | None:
    """The schema that objects have, from a definition; None without one."""
    for each in manifests:
        if isinstance(each, dict) and each.get("kind") == "CustomResourceDefinition":
            return schema_of(each, "", place)
    return None
