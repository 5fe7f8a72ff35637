"""Whose an object on a server is: ours, Helm's for us, or somebody else's, by what is written on it.

Labels say what was meant, managedFields who has really written it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from muster.api.metadata import annotations_of, labels_of
from muster.kubernetes.installing.cluster import MANAGER
from muster.kubernetes.objects.common import PART_OF
from muster.kubernetes.settings import NAME
from muster.values.json import JsonMapping
from muster.values.json_members import list_at

_RELEASE: Final = "meta.helm.sh/release-name"
_RELEASE_PLACE: Final = "meta.helm.sh/release-namespace"
#: They write what any server has in the status of a definition, and own nothing by it.
_SERVERS: Final = frozenset({"kube-apiserver", "kube-controller-manager"})


@dataclass(frozen=True, slots=True)
class Owner:
    """Who stands behind an object."""

    is_ours: bool = False
    managers: tuple[str, ...] = ()
    release: str = ""  # of Helm, with its namespace

    def __str__(self) -> str:
        if self.release:
            return f"the Helm release {self.release}"
        if self.is_ours:
            return "us"
        return " and ".join(self.managers) if self.managers else "somebody who left no name"


def owner_of(obj: JsonMapping) -> Owner:
    """By label first: what we install carries ours, however it got there."""
    annotations = annotations_of(obj)
    release = annotations.get(_RELEASE, "")
    place = annotations.get(_RELEASE_PLACE, "")
    managers = managers_of(obj)
    is_ours = labels_of(obj).get(PART_OF) == NAME or MANAGER in managers
    return Owner(is_ours, managers, f"{place}/{release}" if release and place else release)


def managers_of(obj: JsonMapping) -> tuple[str, ...]:
    """Who has written fields that are not the server's own, in order of their names."""
    entries = [each for each in list_at(obj, "metadata", "managedFields") if isinstance(each, dict)]
    found = {str(each.get("manager", "")) for each in entries if not each.get("subresource")}
    return tuple(sorted(found - _SERVERS - {""}))
