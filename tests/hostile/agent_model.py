"""What an agent of a cluster may change, by itself: written down once more, sharing nothing with the hub.

A change is an object before and after. An agent may report on its own cluster, say where it is reached, renew its
lease, ask for certificates, write events, and report on its add-ons and works. Nothing else, and nothing of others.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
LABEL = "open-cluster-management.io/cluster-name"
ACCEPTED = "HubAcceptedManagedCluster"
# What the server writes by itself.
_KEPT_BY_THE_SERVER = ("resourceVersion", "generation", "managedFields", "uid", "creationTimestamp", "selfLink")


def wrong(cluster: str, kind: str, namespace: str, name: str, old: Object | None, new: Object | None) -> str:
    """Why an agent of the cluster may not have made this change; empty if it may."""
    match kind:
        case "managedclusters":
            return _cluster(cluster, name, old, new)
        case "certificatesigningrequests":
            if old is not None or new is None:
                return "a request was changed"
            named = (new["metadata"].get("labels") or {}).get(LABEL, cluster)
            return "" if named == cluster else f"a request was made in the name of {named}"
        case "leases" if namespace == cluster:
            return "" if old is not None and new is not None else "a lease was made or deleted"
        case "events" if namespace == cluster:
            return "" if new is not None else "an event was deleted"
        case "managedclusteraddons" if namespace == cluster:
            return "" if _only_status(old, new) else "more than the status of an add-on was changed"
        case "manifestworks" if namespace == cluster:
            return "" if old is not None and new is not None else "a work was made"
    return f"{kind} {namespace}/{name} is none of its business"


def _cluster(cluster: str, name: str, old: Object | None, new: Object | None) -> str:
    if name != cluster:
        return f"cluster {name} was changed"
    if old is None or new is None:
        return "a cluster was made or deleted"
    if _metadata(old) != _metadata(new):
        return "metadata of the cluster was changed"
    before, after = dict(old["spec"]), dict(new["spec"])
    before.pop("managedClusterClientConfigs", None)
    after.pop("managedClusterClientConfigs", None)
    if before != after:
        return "more than the addresses of the cluster was changed"
    return "" if _verdict(old) == _verdict(new) else "the condition of acceptance was changed"


def _only_status(old: Object | None, new: Object | None) -> bool:
    if old is None or new is None or _metadata(old) != _metadata(new):
        return False
    return {**old, "metadata": 0, "status": 0} == {**new, "metadata": 0, "status": 0}


def _metadata(obj: Object) -> Object:
    return {key: value for key, value in obj["metadata"].items() if key not in _KEPT_BY_THE_SERVER and value}


def _verdict(obj: Object) -> list[str]:
    conditions = obj.get("status", {}).get("conditions") or []
    return [f"{each.get('status')} {each.get('reason')}" for each in conditions if each.get("type") == ACCEPTED]
