"""Roles for people. Three become part of Kubernetes' own view, edit and admin, so that whoever works in a namespace
works with our kinds there; two are for the fleet as a whole and become part of nothing.

What they name is what the hub's roles name (`api/user_roles.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.fleet_questions import QUESTIONS
from muster.api.user_roles import EDITED, HISTORY, OCM, SEEN
from muster.kubernetes.objects.common import RBAC, READ, named, rule
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_REGISTER: Final = "register.open-cluster-management.io"
_PROFILES: Final = "multicluster.x-k8s.io"
_FLEET: Final = ("managedclusters", "managedclustersets")
_STATUS: Final = tuple(f"{each}/status" for each in _FLEET)

_VIEW: Final = [
    *(rule(READ, group, *resources) for group, resources in SEEN.items()),
    # An answer has nothing in it that the asker could not get himself.
    rule(("create",), QUESTIONS[0].group, *sorted(each.plural for each in QUESTIONS)),
]
_EDIT: Final = [
    *_VIEW,
    rule(("create",), OCM, "placements/explain"),
    *(rule(_WRITE, group, *resources) for group, resources in EDITED.items()),
]
_ADMIN: Final = [
    *_EDIT,
    rule(_WRITE, OCM, "addonplacementscores", "placementdecisions"),
    rule(("delete", "deletecollection"), HISTORY, "placementhistories"),
]
_FLEET_VIEW: Final = [rule(READ, OCM, *_FLEET, *_STATUS), rule(READ, _PROFILES, "clusterprofiles")]
_FLEET_ADMIN: Final = [
    *_FLEET_VIEW,
    rule(_WRITE, OCM, *_FLEET),
    rule(("create",), OCM, "managedclustersets/bind", "managedclustersets/exclusiveKey", "managedclustersets/join"),
    rule(("update",), _REGISTER, "managedclusters/accept"),
]


def user_roles() -> Iterator[JsonObject]:
    yield _role("muster:view", _VIEW, "view")
    yield _role("muster:edit", _EDIT, "edit")
    yield _role("muster:admin", _ADMIN, "admin")
    yield _role("muster:fleet-view", _FLEET_VIEW)
    yield _role("muster:fleet-admin", _FLEET_ADMIN)


def _role(name: str, rules: list[JsonObject], part_of: str = "") -> JsonObject:
    role = named(f"{RBAC}/v1", "ClusterRole", name) | {"rules": rules}
    if part_of:
        role["metadata"]["labels"] = {f"{RBAC}/aggregate-to-{part_of}": "true"}
    return role
