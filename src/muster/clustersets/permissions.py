"""What a change of clusters and sets needs, and how missing permissions are told: all at once, ready to be granted.

Admission asks who has them; commands show who would need them. Knows neither users nor roles.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP
from muster.values.json import JsonObject
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


ACCEPT_GROUP: Final = "register.open-cluster-management.io"
_CLUSTERS: Final = "managedclusters"
_SETS: Final = "managedclustersets"
_MISSING: Final = "missing permissions"
_RULES: Final = "rules of a ClusterRole that grants them"
MOST_NAMED: Final = 10  # objects that a text names, out of possibly thousands


@dataclass(frozen=True, slots=True)
class Permission:
    """One permission, what it is needed for (`reason`), and what a user without it is told (`refusal`)."""

    verb: str
    resource: str
    subresource: str
    name: str
    reason: str
    refusal: str
    group: str = GROUP

    @property
    def path(self) -> str:
        """As roles write it: `managedclustersets/join`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    @property
    def address(self) -> str:
        """As authorizers are asked: `managedclustersets/join.cluster.open-cluster-management.io`."""
        return f"{self.path}.{self.group}"

    def __str__(self) -> str:
        return f'{self.verb} {self.address} "{self.name}"' if self.name else f"{self.verb} {self.address}"


def join(set_name: str, reason: str) -> Permission:
    """To put a cluster into an exclusive set, or to take it out."""
    refusal = f'cannot add/remove a ManagedCluster to/from ManagedClusterSet "{set_name}"'
    return Permission("create", _SETS, "join", set_name, reason, refusal)


def bind(set_name: str) -> Permission:
    """To let a namespace use a set."""
    refusal = f'is not allowed to bind cluster set "{set_name}"'
    return Permission("create", _SETS, "bind", set_name, f"the binding is to the set {set_name}", refusal)


def accept(cluster: str) -> Permission:
    """To accept a cluster into the fleet."""
    refusal = "cannot update the HubAcceptsClient field"
    return Permission("update", _CLUSTERS, "accept", cluster, "hubAcceptsClient becomes true", refusal, ACCEPT_GROUP)


def use_key(key: str) -> Permission:
    """To create sets that are exclusive by a key."""
    refusal = f'cannot create a ManagedClusterSet with the exclusiveKey "{key}"'
    return Permission("create", _SETS, "exclusiveKey", key, f"the set is exclusive by the key {key}", refusal)


def take_in(cluster: str, key: str, set_name: str) -> Permission:
    """To create a set that has the cluster from its first moment on."""
    refusal = f'cannot take the ManagedCluster "{cluster}" into the ManagedClusterSet "{set_name}"'
    return Permission("update", _CLUSTERS, "", cluster, f"the cluster is labelled {key}={set_name}", refusal)


def take_in_hidden(count: int, key: str, set_name: str) -> Permission:
    """The same for clusters that are not named, because whoever asks may not get them."""
    noun = "ManagedCluster" if count == 1 else "ManagedClusters"
    refusal = f'cannot take {count} {noun} into the ManagedClusterSet "{set_name}"'
    reason = f"{count} labelled {key}={set_name} that you may not get"
    return Permission("update", _CLUSTERS, "", "", reason, refusal)


def role_rules(permissions: Iterable[Permission]) -> list[JsonObject]:
    """Rules of a ClusterRole that grant exactly these permissions. One without a name is for every name."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for each in permissions:
        names.setdefault((each.group, each.path, each.verb), {})[each.name] = None
    return [
        {"apiGroups": [group], "resources": [path]}
        | ({} if "" in these else {"resourceNames": list(these)})
        | {"verbs": [verb]}
        for (group, path, verb), these in names.items()
    ]


def rules_text(permissions: Iterable[Permission]) -> str:
    """The same as YAML that can be pasted into a ClusterRole."""
    lines = []
    for rule in role_rules(permissions):
        dash = "- "
        for field, values in rule.items():
            lines.append(f"{dash}{field}: {json.dumps(values)}")
            dash = "  "
    return "\n".join(lines)


def refusal_text(user: str, missing: Sequence[Permission]) -> str:
    """What a user is told who lacks permissions: the first as a sentence, then all of them, then how to grant them.

    Of permissions of one kind the first ten are named, and then the rule is for every name.
    """
    first = missing[0]
    shown: list[str] = []
    granted: list[Permission] = []
    for (verb, address), group in groupby(missing, key=lambda each: (each.verb, each.address)):
        alike = list(group)
        shown += [f"  {each} ({each.reason})" for each in alike[:MOST_NAMED]]
        if len(alike) > MOST_NAMED:
            shown.append(f"  and {verb} {address} for {len(alike) - MOST_NAMED} more")
            granted.append(replace(alike[0], name=""))
        else:
            granted += alike
    return "\n".join([_sentence(user, first), f"{_MISSING}:", *shown, f"{_RULES}:", rules_text(granted)])


def refusal_line(user: str, missing: Permission) -> str:
    """The same of one permission and on one line, for servers whose refusals have no line breaks."""
    rules = json.dumps(role_rules([missing]))
    return f"{_sentence(user, missing)}; {_MISSING}: {missing} ({missing.reason}); {_RULES}: {rules}"


def _sentence(user: str, missing: Permission) -> str:
    named = f' "{missing.name}"' if missing.name else ""
    return f"{missing.path}.{GROUP}{named} is forbidden: user {go_quote(user)} {missing.refusal}"
