"""Roles and role bindings: who may do what. The four kinds of rbac.authorization.k8s.io."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import parts
from muster.api.builtin import AGE, CREATED_AT, builtin
from muster.api.parts import LabelSelector, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, forbidden, invalid, not_supported, required, too_many
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject, Schema
from muster.values.json_members import list_at
from muster.values.names import path_segment_problems, subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime


GROUP: Final = "rbac.authorization.k8s.io"
MOST_ITEMS: Final = 5_000  # rules of a role, subjects of a binding: each change of one is followed on the spot


# ----------------------------------------------------------------------------------------------------------------------
# What can be read of them. A role is read whole or grants nothing: a rule that lost its names would allow more.


class PolicyRule(Part, frozen=True):
    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class AggregationRule(Node, frozen=True):
    cluster_role_selectors: tuple[LabelSelector, ...] = ()


class Role(Node, frozen=True):
    """A Role or a ClusterRole; only the latter aggregates."""

    metadata: ObjectMeta = ObjectMeta()
    rules: tuple[PolicyRule, ...] = ()
    aggregation_rule: AggregationRule | None = None


class RoleReference(Part, frozen=True):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class Subject(Part, frozen=True):
    api_group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


class RoleBinding(Node, frozen=True):
    """A RoleBinding or a ClusterRoleBinding."""

    metadata: ObjectMeta = ObjectMeta()
    role_ref: RoleReference = RoleReference()
    subjects: tuple[Subject, ...] = ()


_ROLES: Final = Reader(Role)
_BINDINGS: Final = Reader(RoleBinding)


def read_role(obj: JsonMapping) -> Role:
    found = _ROLES.fitted(obj)
    if isinstance(found, Fault):
        return Role()
    return Role(found.obj.metadata) if found.faults else found.obj


def read_binding(obj: JsonMapping) -> RoleBinding:
    return _BINDINGS.of(obj)


# ----------------------------------------------------------------------------------------------------------------------
# Roles.


def _role_rules(*, namespaced: bool) -> Callable[[JsonObject, JsonObject | None], Iterator[Cause]]:
    def rules(new: JsonObject, _: JsonObject | None) -> Iterator[Cause]:
        given = _ROLES.of(new).rules
        if len(given) > MOST_ITEMS:
            yield too_many("rules", len(given), MOST_ITEMS)
        for index, rule in enumerate(given):
            yield from _rule_causes(rule, f"rules[{index}]", namespaced=namespaced)

    return rules


def _rule_causes(rule: PolicyRule, path: str, *, namespaced: bool) -> Iterator[Cause]:
    if not rule.verbs:
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    if rule.non_resource_urls:
        urls = list(rule.non_resource_urls)
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, detail)
        if rule.api_groups or rule.resources or rule.resource_names:
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, detail)
        return
    if not rule.api_groups:
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.resources:
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _strings(description: str) -> Schema:
    return parts.array(parts.string(), description) | {"x-kubernetes-list-type": "atomic"}


_RULES = parts.array(
    parts.obj(
        "What may be done to what.",
        ("verbs",),
        {
            "verbs": _strings("What may be done: get, list, create, …; * is everything."),
            "apiGroups": _strings("The groups of the resources; the empty string is the core group."),
            "resources": _strings("The resources, with /subresource where meant; * is every resource."),
            "resourceNames": _strings("The objects; all if empty."),
            "nonResourceURLs": _strings("Paths that are no resources; only in cluster roles."),
        },
    ),
    "What the role allows.",
) | {"x-kubernetes-list-type": "atomic"}

_AGGREGATION = parts.obj(
    "Cluster roles whose rules this role gathers.",
    properties={"clusterRoleSelectors": parts.array(parts.label_selector("Their labels."), "Any of these.")},
)

CLUSTER_ROLE: Final = builtin(
    "ClusterRole",
    "clusterroles",
    parts.obj("What may be done, anywhere.", properties={"rules": _RULES, "aggregationRule": _AGGREGATION}),
    (CREATED_AT,),
    group=GROUP,
    namespaced=False,
    rules=_role_rules(namespaced=False),
    name_problems=path_segment_problems,
)
ROLE: Final = builtin(
    "Role",
    "roles",
    parts.obj("What may be done in one namespace.", properties={"rules": _RULES}),
    (CREATED_AT,),
    group=GROUP,
    rules=_role_rules(namespaced=True),
    name_problems=path_segment_problems,
)


# ----------------------------------------------------------------------------------------------------------------------
# Bindings.


def normalize_binding(obj: JsonObject) -> None:
    """Users, groups and roles are of the RBAC group unless they say otherwise."""
    role = obj.get("roleRef")
    if isinstance(role, dict) and not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in list_at(obj, "subjects"):
        if isinstance(subject, dict) and subject.get("kind") in {"User", "Group"} and not subject.get("apiGroup"):
            subject["apiGroup"] = GROUP


def _binding_rules(*kinds: str, namespaced: bool) -> Callable[[JsonObject, JsonObject | None], Iterator[Cause]]:
    def rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
        binding = read_binding(new)
        role, subjects = binding.role_ref, binding.subjects
        if role.api_group != GROUP:
            yield not_supported("roleRef.apiGroup", role.api_group, (GROUP,))
        if role.kind not in kinds:
            yield not_supported("roleRef.kind", role.kind, kinds)
        if not role.name:
            yield required("roleRef.name")
        else:
            yield from (invalid("roleRef.name", role.name, each) for each in path_segment_problems(role.name))
        if len(subjects) > MOST_ITEMS:
            yield too_many("subjects", len(subjects), MOST_ITEMS)
        for index, subject in enumerate(subjects):
            yield from _subject_causes(subject, f"subjects[{index}]", namespaced=namespaced)
        if old is not None and role != read_binding(old).role_ref:
            shown = {"APIGroup": role.api_group, "Kind": role.kind, "Name": role.name}
            yield invalid("roleRef", shown, "cannot change roleRef")

    return rules


def _subject_causes(subject: Subject, path: str, *, namespaced: bool) -> Iterator[Cause]:
    name, group = subject.name, subject.api_group
    if not name:
        yield required(f"{path}.name")
    match subject.kind:
        case "ServiceAccount":
            if name:
                yield from (invalid(f"{path}.name", name, problem) for problem in subdomain_problems(name))
            if group:
                yield not_supported(f"{path}.apiGroup", group, ("",))
            if not namespaced and not subject.namespace:
                yield required(f"{path}.namespace")
        case "User" | "Group":
            if group != GROUP:
                yield not_supported(f"{path}.apiGroup", group, (GROUP,))
            if subject.namespace:
                yield forbidden(f"{path}.namespace", "may not be set for users and groups")
        case other:
            yield not_supported(f"{path}.kind", other, ("ServiceAccount", "User", "Group"))


def _role(obj: JsonObject, _: datetime) -> object:
    role = read_binding(obj).role_ref
    return f"{role.kind}/{role.name}"


def _subjects(kind: str) -> Callable[[JsonObject, datetime], object]:
    def cell(obj: JsonObject, _: datetime) -> object:
        chosen = [each for each in read_binding(obj).subjects if each.kind == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{each.namespace}/{each.name}" for each in chosen)
        return ", ".join(each.name for each in chosen)

    return cell


_BINDING = parts.obj(
    "Gives a role to somebody.",
    ("roleRef",),
    {
        "roleRef": parts.obj(
            "The role. Cannot be changed.",
            ("apiGroup", "kind", "name"),
            {"apiGroup": parts.string(), "kind": parts.string(), "name": parts.string()},
        )
        | {"x-kubernetes-map-type": "atomic"},
        "subjects": parts.array(
            parts.obj(
                "Somebody: a user, a group or a service account.",
                ("kind", "name"),
                {
                    "apiGroup": parts.string(),
                    "kind": parts.string(),
                    "name": parts.string(),
                    "namespace": parts.string(),
                },
            )
            | {"x-kubernetes-map-type": "atomic"},
            "Who gets the role.",
        )
        | {"x-kubernetes-list-type": "atomic"},
    },
)
_BINDING_COLUMNS = (
    PrinterColumn("Role", "string", description="The role that is given.", cell=_role),
    AGE,
    PrinterColumn("Users", "string", description="Users who get it.", priority=1, cell=_subjects("User")),
    PrinterColumn("Groups", "string", description="Groups that get it.", priority=1, cell=_subjects("Group")),
    PrinterColumn(
        "ServiceAccounts",
        "string",
        description="Service accounts that get it.",
        priority=1,
        cell=_subjects("ServiceAccount"),
    ),
)

CLUSTER_ROLE_BINDING: Final = builtin(
    "ClusterRoleBinding",
    "clusterrolebindings",
    _BINDING,
    _BINDING_COLUMNS,
    group=GROUP,
    namespaced=False,
    rules=_binding_rules("ClusterRole", namespaced=False),
    normalize=normalize_binding,
    name_problems=path_segment_problems,
)
ROLE_BINDING: Final = builtin(
    "RoleBinding",
    "rolebindings",
    _BINDING,
    _BINDING_COLUMNS,
    group=GROUP,
    rules=_binding_rules("Role", "ClusterRole", namespaced=True),
    normalize=normalize_binding,
    name_problems=path_segment_problems,
)
