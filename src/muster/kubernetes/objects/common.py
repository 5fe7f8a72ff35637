"""What the modules of objects share: metadata with our labels, and rules of roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.kubernetes.settings import NAME
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

PART_OF: Final = "app.kubernetes.io/part-of"
#: On everything that we install: how we know our own.
LABELS: Final[Mapping[str, str]] = {"app.kubernetes.io/name": NAME, PART_OF: NAME}
RBAC: Final = "rbac.authorization.k8s.io"
READ: Final = ("get", "list", "watch")


def named(api_version: str, kind: str, name: str, namespace: str = "") -> JsonObject:
    """The head of an object."""
    where: JsonObject = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **where}}


def labelled(obj: JsonObject) -> JsonObject:
    """The object with our labels before its own, and labels before annotations."""
    metadata: JsonObject = obj["metadata"]
    labels = {**LABELS, **metadata.get("labels", {})}
    rest = {name: value for name, value in metadata.items() if name not in ("labels", "annotations")}
    said = {"annotations": metadata["annotations"]} if "annotations" in metadata else {}
    return obj | {"metadata": {**rest, "labels": labels, **said}}


def rule(verbs: tuple[str, ...], group: str, *resources: str, names: tuple[str, ...] = ()) -> JsonObject:
    """One rule of a role."""
    limited: JsonObject = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **limited, "verbs": list(verbs)}


def role_ref(kind: str, name: str) -> JsonObject:
    return {"apiGroup": RBAC, "kind": kind, "name": name}


def service_account(namespace: str) -> JsonObject:
    """Our Pods, as subjects of bindings."""
    return {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
