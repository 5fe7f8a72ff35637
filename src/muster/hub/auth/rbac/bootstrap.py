"""The roles and bindings every hub starts with, under the names Kubernetes gives them. Data, and the wish to have it.

`app` calls `ensure_roles` after the API has started. As in Kubernetes, a role that lacks something gets it, so that a
newer hub works with an older state, and what was added to it stays; the annotation
`rbac.authorization.kubernetes.io/autoupdate: "false"` keeps a role or binding as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.access.policy import GROUP
from muster.access.rules import rules_of, uncovered
from muster.api import RESOURCES, user_roles
from muster.api.fleet_parts import GROUP as FLEET
from muster.api.fleet_questions import QUESTIONS
from muster.api.metadata import annotations_of, labels_of
from muster.api.rbac import read_role
from muster.api.registration import JOINERS
from muster.controllers.permissions import roles as controller_roles
from muster.hub.auth.tokens import ADMINISTRATOR, AUTHENTICATED, SYSTEM_MASTERS, UNAUTHENTICATED
from muster.hub.namespaces import SERVER
from muster.hub.objects import decode
from muster.hub.requests import ObjectBody, Target, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import Key
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import list_at, object_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.hub.api import Api
    from muster.hub.storage import Store

_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_CERTIFICATES = "certificates.k8s.io"
_DISCOVERY = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
]
_PUBLIC = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_ISSUER = [f"{path}{end}" for path in ("/.well-known/openid-configuration", "/openid/v1/jwks") for end in ("", "/")]
_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
FLEET_VIEW = "muster:fleet-view"
JOINING = "open-cluster-management:bootstrap"
AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_UPDATED = {AUTO_UPDATE: "true"}
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"

Rules = list[JsonObject]


def _on(verbs: list[str], group: str, *resources: str) -> JsonObject:
    return {"apiGroups": [group], "resources": sorted(resources), "verbs": verbs}


def _paths(*urls: str) -> JsonObject:
    return {"nonResourceURLs": list(urls), "verbs": ["get"]}


# Everybody's kinds in a namespace: what may be seen, and what those who edit may change.
_SEEN: Mapping[str, tuple[str, ...]] = {
    "": ("configmaps", "events", "namespaces", "namespaces/status", "serviceaccounts", "services"),
    "events.k8s.io": ("events",),
    **user_roles.SEEN,
}
_EDITED: Mapping[str, tuple[str, ...]] = {
    "": ("configmaps", "events", "secrets", "serviceaccounts"),
    "events.k8s.io": ("events",),
    **user_roles.EDITED,
}

_ROLES: Mapping[str, Rules] = {
    "cluster-admin": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ],
    "system:auth-delegator": [
        _on(["create"], "authentication.k8s.io", "tokenreviews"),
        _on(["create"], "authorization.k8s.io", "subjectaccessreviews"),
    ],
    "system:basic-user": [
        _on(["create"], "authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        _on(["create"], "authentication.k8s.io", "selfsubjectreviews"),
    ],
    # `view` has nothing outside of namespaces, as on every Kubernetes server; this is for those who look at the fleet.
    FLEET_VIEW: [
        _on(_READ, user_roles.OCM, "managedclusters", "managedclustersets"),
        _on(_READ, "multicluster.x-k8s.io", "clusterprofiles"),
        _on(["create"], FLEET, *(each.plural for each in QUESTIONS)),
    ],
    # Clusters that are about to join; the name is Open Cluster Management's. They enter no set but the default one.
    JOINING: [
        _on(["create", "get", "list", "watch"], _CERTIFICATES, "certificatesigningrequests"),
        # Not list and watch: an agent that is about to join tries them, does without, and need not see the fleet.
        _on(["create", "get"], user_roles.OCM, "managedclusters"),
        {**_on(["create"], user_roles.OCM, "managedclustersets/join"), "resourceNames": ["default"]},
    ],
    "system:discovery": [_paths(*_DISCOVERY)],
    "system:monitoring": [
        _paths("/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*")
    ],
    "system:public-info-viewer": [_paths(*_PUBLIC)],
    "system:service-account-issuer-discovery": [_paths(*_ISSUER)],
    # Who gives verdicts, for one signer each; what signs is the hub itself.
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient": [
        _on(["create"], _CERTIFICATES, "certificatesigningrequests/nodeclient")
    ],
    "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": [
        _on(["create"], _CERTIFICATES, "certificatesigningrequests/selfnodeclient")
    ],
    **{
        f"system:certificates.k8s.io:{signer}-approver": [
            {**_on(["approve"], _CERTIFICATES, "signers"), "resourceNames": [f"kubernetes.io/{signer}"]}
        ]
        for signer in ("kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving")
    },
}
_AGGREGATED: Mapping[str, tuple[str, Rules]] = {
    # A role, the role it becomes part of, and its rules.
    "system:aggregate-to-admin": (
        "admin",
        [
            _on(["create"], "authorization.k8s.io", "localsubjectaccessreviews"),
            _on([*_WRITE, *_READ], GROUP, "rolebindings", "roles"),
        ],
    ),
    "system:aggregate-to-edit": (
        "edit",
        [
            _on(_READ, "", "secrets"),
            _on(["impersonate"], "", "serviceaccounts"),
            _on(["create"], "", "serviceaccounts/token"),
            _on(["create"], user_roles.OCM, "placements/explain"),
            *(_on(_WRITE, group, *resources) for group, resources in _EDITED.items()),
            _on([*_WRITE, *_READ], "coordination.k8s.io", "leases"),
        ],
    ),
    "system:aggregate-to-view": (
        "view",
        [
            *(_on(_READ, group, *resources) for group, resources in _SEEN.items()),
            # An answer has nothing in it that the asker could not get himself.
            _on(["create"], FLEET, *(each.plural for each in QUESTIONS)),
        ],
    ),
}
# A role that gathers others, and the roles it becomes part of itself.
_GATHERING: Mapping[str, tuple[str, ...]] = {"admin": (), "edit": ("admin",), "view": ("edit",)}
_BINDINGS: Mapping[str, tuple[str, ...]] = {
    "cluster-admin": (SYSTEM_MASTERS,),
    JOINING: (JOINERS,),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:monitoring": ("system:monitoring",),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:service-account-issuer-discovery": ("system:serviceaccounts",),
}
_EXTENSION = "extension-apiserver-authentication"
_AUTHENTICATION_READER: JsonMapping = {
    # Programs that serve kinds of their own behind this server find there whose certificates it believes.
    "apiVersion": f"{GROUP}/v1",
    "kind": "Role",
    "metadata": {"name": f"{_EXTENSION}-reader", "namespace": "kube-system"},
    "rules": [{**_on(_READ, "", "configmaps"), "resourceNames": [_EXTENSION]}],
}


def bootstrap_objects() -> Iterator[JsonObject]:
    """Every role and binding, as it would be written by hand."""
    for name, rules in _ROLES.items():
        yield _role(name, {}) | {"rules": rules}
    for name, (part_of, rules) in _AGGREGATED.items():
        yield _role(name, {f"{_AGGREGATE}{part_of}": "true"}) | {"rules": rules}
    for name, part_of_each in _GATHERING.items():
        labels = {f"{_AGGREGATE}{part_of}": "true" for part_of in part_of_each}
        selectors = [{"matchLabels": {f"{_AGGREGATE}{name}": "true"}}]
        yield _role(name, labels) | {"aggregationRule": {"clusterRoleSelectors": selectors}}
    metadata = {**_AUTHENTICATION_READER["metadata"], "labels": dict(_LABEL), "annotations": dict(_UPDATED)}
    yield {**_AUTHENTICATION_READER, "metadata": metadata}
    for name, groups in _BINDINGS.items():
        yield {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": dict(_LABEL), "annotations": dict(_UPDATED)},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": group} for group in groups],
        }
    yield from controller_roles()


def _role(name: str, labels: Mapping[str, str]) -> JsonObject:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": {**_LABEL, **labels}, "annotations": dict(_UPDATED)},
    }


async def ensure_roles(api: Api, store: Store) -> None:
    """Create those that are missing, and add what the others lack."""
    for obj in bootstrap_objects():
        resource = RESOURCES[f"{obj['kind'].lower()}s.{GROUP}"]
        namespace = obj["metadata"].get("namespace", "")
        record = store.get(Key(resource.key, namespace, obj["metadata"]["name"]))
        given = Target(resource, resource.storage_version, namespace)
        options = WriteOptions(field_manager=SERVER)
        try:
            if record is None:
                await api.create(ADMINISTRATOR, given, ObjectBody(obj), options)
            elif (completed := with_what_it_lacks(decode(record.value), obj)) is not None:
                there = msgspec.structs.replace(given, name=obj["metadata"]["name"])
                await api.update(ADMINISTRATOR, there, ObjectBody(completed), options)
        except StatusError as error:
            if error.code != 409:  # somebody else has written it meanwhile
                raise


def with_what_it_lacks(present: JsonObject, wanted: JsonMapping) -> JsonObject | None:
    """A role or binding with what a newer hub wants of it besides; None when it lacks nothing or is not to be touched.

    What an administrator has added stays. A binding to another role is the administrator's own.
    """
    metadata = present["metadata"]
    if annotations_of(present).get(AUTO_UPDATE) == "false" or present.get("roleRef") != wanted.get("roleRef"):
        return None
    lacking: JsonObject = {}
    written = {"labels": labels_of(present), "annotations": annotations_of(present)}
    noted = {field: {**object_at(wanted["metadata"], field), **texts} for field, texts in written.items()}
    if noted != written:
        lacking["metadata"] = {**metadata, **{field: texts for field, texts in noted.items() if texts}}
    if "aggregationRule" in wanted:
        selectors = list_at(present, "aggregationRule", "clusterRoleSelectors")
        missing = [each for each in wanted["aggregationRule"]["clusterRoleSelectors"] if each not in selectors]
        if missing:
            lacking["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *missing]}
    elif missing := [each for each in wanted.get("rules", ()) if _is_uncovered(each, present)]:
        lacking["rules"] = [*list_at(present, "rules"), *missing]
    subjects = list_at(present, "subjects")
    if missing := [each for each in wanted.get("subjects", ()) if each not in subjects]:
        lacking["subjects"] = [*subjects, *missing]
    return {**present, **lacking} if lacking else None


def _is_uncovered(rule: JsonMapping, role: JsonMapping) -> bool:
    return bool(uncovered(rules_of(read_role(role)), rules_of(read_role({"rules": [rule]}))))
