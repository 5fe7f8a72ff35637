"""Where on a server Muster lives. There is one: kinds, policies and webhooks belong to the whole cluster.

The binding of our role says it, however it got there. Commands ask before they touch anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import ApiError, InvalidObjectError
from muster.kubernetes.installing.cluster import ObjectId
from muster.kubernetes.installing.owners import owner_of
from muster.kubernetes.objects.common import RBAC
from muster.kubernetes.settings import DEFAULTS, NAME
from muster.values.json_members import list_at, text_at

if TYPE_CHECKING:
    from muster.kubernetes.installing.cluster import Cluster

_FORBIDDEN = (401, 403)


async def found_home(cluster: Cluster) -> str:
    """The namespace of our Pods; nothing where we are not installed, or whoever asks may not know."""
    try:
        binding = await cluster.get(ObjectId(f"{RBAC}/v1", "ClusterRoleBinding", "", NAME))
    except ApiError as error:
        if error.code in _FORBIDDEN:
            return ""
        raise
    if binding is None or not owner_of(binding).is_ours:
        return ""
    places = [text_at(each, "namespace") for each in list_at(binding, "subjects")]
    return places[0] if places else ""


async def chosen_home(cluster: Cluster, said: str | None) -> str:
    """The namespace that is meant: what is said, else where Muster is, else the usual one. Raises InvalidObjectError if
    it is somewhere else."""
    home = await found_home(cluster)
    if said is None:
        return home or DEFAULTS.namespace
    if home and home != said:
        told = f"Muster is installed in {home}, and a cluster has one: say -n {home}, or uninstall it there first"
        raise InvalidObjectError("", told)
    return said
