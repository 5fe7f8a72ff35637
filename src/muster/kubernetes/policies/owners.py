"""Owners of our objects: naming one is a way to have an object deleted, so it needs that permission.

Kubernetes has an admission plugin for it (OwnerReferencesPermissionEnforcement), which few API servers turn on. For
our kinds this policy says the same. What it cannot know is which resource a kind is, so that `blockOwnerDeletion` is
left to the plugin.
"""

from __future__ import annotations

from muster.admission.owners import CANNOT_DELETE
from muster.api import RESOURCES
from muster.kubernetes.policies.expressions import USER, hole, text
from muster.kubernetes.policies.policy import UPDATE, Matched, Validation, permission_policy
from muster.values.json import JsonObject


def owners() -> list[JsonObject]:
    """Whoever changes the owners of an object must be allowed to delete it; who creates it decides about nothing."""
    kinds: dict[str, tuple[str, ...]] = {}
    for kind in RESOURCES.values():
        if not (kind.builtin or kind.virtual or kind.custom):
            kinds[kind.group] = (*kinds.get(kind.group, ()), kind.plural)
    resource, address = "request.resource.resource", "request.resource.resource + '.' + request.resource.group"
    may_delete = (
        f"authorizer.group(request.resource.group).resource({resource})"
        ".namespace(has(request.namespace) ? request.namespace : '').name(object.metadata.name)"
        ".check('delete').allowed()"
    )
    words = (
        f'{hole(address)} "{hole("object.metadata.name")}" is forbidden: {CANNOT_DELETE}: user "{USER}" needs the '
        f"permission to delete {hole(address)}"
    )
    return permission_policy(
        "muster-owners",
        Matched(kinds, (UPDATE,), {"owners-change": f"{_owners('object')} != {_owners('oldObject')}"}),
        Validation(may_delete, CANNOT_DELETE, text(words)),
    )


def _owners(obj: str) -> str:
    return f"(has({obj}.metadata.ownerReferences) ? {obj}.metadata.ownerReferences : [])"
