"""Namespace: what names are unique in. A cluster of the fleet has one of its own on the hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.metadata import labels_of
from muster.api.parts import Identity, Node, Part
from muster.api.resource import BUILTIN_VERBS, PrinterColumn
from muster.values.json import JsonObject
from muster.values.json_members import text_at
from muster.values.names import dns_label_problems

if TYPE_CHECKING:
    from datetime import datetime


class NamespaceStatus(Part, frozen=True):
    phase: str = ""


class Namespace(Node, frozen=True):
    """As much of a namespace as is asked of it elsewhere."""

    metadata: Identity = Identity()
    status: NamespaceStatus = NamespaceStatus()


NAME_LABEL: Final = "kubernetes.io/metadata.name"
FINALIZER: Final = "kubernetes"


def normalize(obj: JsonObject) -> None:
    """Every namespace is labelled with its name, and has a phase."""
    metadata = obj.setdefault("metadata", {})
    if name := metadata.get("name"):
        metadata["labels"] = labels_of(obj) | {NAME_LABEL: name}
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        spec = obj["spec"] = {}
    if not spec.get("finalizers"):
        spec.pop("finalizers", None)
    status = obj.get("status")
    if not isinstance(status, dict):
        status = obj["status"] = {}
    status.setdefault("phase", "Active")


def compose(subresource: str, new: JsonObject, old: JsonObject, _: str) -> None:
    """Status and spec are written apart; labels and annotations with either, as on a Kubernetes server."""
    kept = "spec" if subresource == "status" else "status"
    new.pop(kept, None)
    if kept in old:
        new[kept] = old[kept]


def _phase(obj: JsonObject, _: datetime) -> object:
    return text_at(obj, "status", "phase")


NAMESPACE: Final = builtin(
    "Namespace",
    "namespaces",
    parts.kind(
        "What names are unique in.",
        parts.obj(
            "What keeps the namespace.",
            properties={"finalizers": parts.array(parts.string(), "What must happen before it is gone.")},
        ),
        parts.obj(
            "How far the namespace is.",
            properties={
                "phase": parts.string("Active or Terminating."),
                "conditions": parts.map_list(
                    parts.obj(
                        "One aspect of the namespace's state.",
                        ("status", "type"),
                        {
                            "type": parts.string(),
                            "status": parts.string(),
                            "reason": parts.string(),
                            "message": parts.string(),
                            "lastTransitionTime": parts.time(),
                        },
                    ),
                    ("type",),
                ),
            },
        ),
    ),
    (PrinterColumn("Status", "string", description="Active or Terminating.", cell=_phase), AGE),
    namespaced=False,
    short_names=("ns",),
    status=True,
    parts=("finalize",),
    verbs=tuple(verb for verb in BUILTIN_VERBS if verb != "deletecollection"),
    normalize=normalize,
    compose=compose,
    name_problems=dns_label_problems,
    selectable_fields=(".status.phase",),
)
