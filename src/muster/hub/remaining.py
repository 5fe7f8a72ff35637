"""What a namespace that terminates says of what holds it up: its conditions, in the words of Kubernetes' controller.

Pure; the cleaner of namespaces counts and writes. `kubectl describe namespace` shows them, and people look there first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Condition = JsonObject

_CONTENT, _FINALIZERS = "NamespaceContentRemaining", "NamespaceFinalizersRemaining"
# What is said while all is well, by condition: reason and message.
_WELL: Final[Mapping[str, tuple[str, str]]] = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    _CONTENT: ("ContentRemoved", "All content successfully removed"),
    _FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def conditions(
    present: Sequence[Condition], objects: Mapping[tuple[str, str], int], finalizers: Mapping[str, int], now: str
) -> list[Condition]:
    """The conditions after `present`, given how many objects are left by plural and group, and by finalizer."""
    left = sorted(f"{plural}.{group} has {count} resource instances" for (plural, group), count in objects.items())
    held = sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
    wrong = {
        _CONTENT: ("SomeResourcesRemain", f"Some resources are remaining: {', '.join(left)}") if left else None,
        _FINALIZERS: (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(held)}",
        )
        if held
        else None,
    }
    before = {each.get("type"): each for each in present}
    found = [each for each in present if each.get("type") not in _WELL]
    for kind, well in _WELL.items():
        reason, message = wrong.get(kind) or well
        state = "True" if wrong.get(kind) else "False"
        known = before.get(kind, {})
        since = known.get("lastTransitionTime", now) if known.get("status") == state else now
        found.append({"type": kind, "status": state, "lastTransitionTime": since, "reason": reason, "message": message})
    return found
