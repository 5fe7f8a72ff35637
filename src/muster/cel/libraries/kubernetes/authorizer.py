"""Kubernetes' authorizer: what a user may do, asked from within an expression of a policy.

Only environments of admission declare the variable. Who decides is whoever makes the value: `authorizer_value`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from muster.cel.checking.types import BOOL, STRING, opaque
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import Range
from muster.cel.costs.runtime import Price
from muster.cel.declarations import Function, Library, Variable
from muster.cel.libraries.declare import method
from muster.cel.libraries.kubernetes.opaque import Wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

AUTHORIZER: Final = opaque("kubernetes.authorization.Authorizer")
PATH_CHECK: Final = opaque("kubernetes.authorization.PathCheck")
GROUP_CHECK: Final = opaque("kubernetes.authorization.GroupCheck")
RESOURCE_CHECK: Final = opaque("kubernetes.authorization.ResourceCheck")
DECISION: Final = opaque("kubernetes.authorization.Decision")
_CHECK_COST: Final = 350_000  # of one question to the authorizer, whatever it is


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody would like to do. A path is asked about without the other fields, and they without a path."""

    verb: str = ""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    service_account: str = ""  # namespace/name, if somebody else than the one who asks


@dataclass(frozen=True, slots=True)
class Decided:
    allowed: bool
    reason: str = ""
    error: str = ""


Decide: TypeAlias = Callable[[Asked], Decided]


@dataclass(frozen=True, slots=True)
class _Question:
    asked: Asked
    decide: Decide

    def with_(self, **more: str) -> _Question:
        return _Question(replace(self.asked, **more), self.decide)


class AuthorizerValue(Wrapped[_Question]):
    __slots__ = ()
    cel_type = AUTHORIZER


class PathCheckValue(Wrapped[_Question]):
    __slots__ = ()
    cel_type = PATH_CHECK


class GroupCheckValue(Wrapped[_Question]):
    __slots__ = ()
    cel_type = GROUP_CHECK


class ResourceCheckValue(Wrapped[_Question]):
    __slots__ = ()
    cel_type = RESOURCE_CHECK


class DecisionValue(Wrapped[Decided]):
    __slots__ = ()
    cel_type = DECISION


def authorizer_value(decide: Decide) -> AuthorizerValue:
    """The variable `authorizer`, answered by a function."""
    return AuthorizerValue(_Question(Asked(), decide))


def resource_check_value(decide: Decide, asked: Asked) -> ResourceCheckValue:
    """The variable `authorizer.requestResource`."""
    return ResourceCheckValue(_Question(asked, decide))


def _check(check: PathCheckValue | ResourceCheckValue, verb: str) -> DecisionValue:
    question = check.content.with_(verb=verb)
    return DecisionValue(question.decide(question.asked))


def _service_account(value: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    return AuthorizerValue(value.content.with_(service_account=f"{namespace}/{name}"))


def _price(_: Sequence[Value], __: Value) -> int:
    return _CHECK_COST


def _estimate(_: Operand | None, __: Arguments) -> CallEstimate:
    return CallEstimate(Range(_CHECK_COST, _CHECK_COST))


def _narrowed(field: str) -> Callable[[ResourceCheckValue, str], ResourceCheckValue]:
    return lambda value, text: ResourceCheckValue(value.content.with_(**{field: text}))


_CHECKED: Final = {KUBERNETES: Charge(Price(_price), _estimate)}

AUTHORIZATION: Final = Library(
    "kubernetes.authorizer",
    (
        Function(
            "path",
            (
                method(
                    "authorizer_path",
                    (AUTHORIZER, STRING),
                    PATH_CHECK,
                    lambda value, path: PathCheckValue(value.content.with_(path=path)),
                ),
            ),
            doc="Asks about a path of the API that is no resource.",
        ),
        Function(
            "serviceAccount",
            (method("authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account),),
            doc="Asks for a service account, by namespace and name, instead of the user.",
        ),
        Function(
            "group",
            (
                method(
                    "authorizer_group",
                    (AUTHORIZER, STRING),
                    GROUP_CHECK,
                    lambda value, group: GroupCheckValue(value.content.with_(group=group)),
                ),
            ),
            doc="Asks about resources of an API group.",
        ),
        Function(
            "resource",
            (
                method(
                    "groupcheck_resource",
                    (GROUP_CHECK, STRING),
                    RESOURCE_CHECK,
                    lambda value, resource: ResourceCheckValue(value.content.with_(resource=resource)),
                ),
            ),
            doc="Asks about a resource of the group.",
        ),
        Function(
            "subresource",
            (method("resourcecheck_subresource", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _narrowed("subresource")),),
            doc="Asks about a subresource.",
        ),
        Function(
            "namespace",
            (method("resourcecheck_namespace", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _narrowed("namespace")),),
            doc="Asks about one namespace.",
        ),
        Function(
            "name",
            (method("resourcecheck_name", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _narrowed("name")),),
            doc="Asks about one object.",
        ),
        Function(
            "check",
            (
                method("pathcheck_check", (PATH_CHECK, STRING), DECISION, _check),
                method("resourcecheck_check", (RESOURCE_CHECK, STRING), DECISION, _check),
            ),
            doc="Asks whether this verb is allowed.",
            charges=_CHECKED,
        ),
        Function(
            "allowed",
            (method("decision_allowed", (DECISION,), BOOL, lambda value: value.content.allowed),),
            doc="Whether it is allowed.",
        ),
        Function(
            "reason",
            (method("decision_reason", (DECISION,), STRING, lambda value: value.content.reason),),
            doc="Why, in the words of the authorizer.",
        ),
        Function(
            "errored",
            (method("decision_errored", (DECISION,), BOOL, lambda value: bool(value.content.error)),),
            doc="Whether nobody could say.",
        ),
        Function(
            "error",
            (method("decision_error", (DECISION,), STRING, lambda value: value.content.error),),
            doc="Why nobody could say; empty if somebody could.",
        ),
    ),
)
VARIABLES: Final = (
    Variable("authorizer", AUTHORIZER, "What the user who asks may do."),
    Variable("authorizer.requestResource", RESOURCE_CHECK, "The same for the resource that is asked for."),
)
