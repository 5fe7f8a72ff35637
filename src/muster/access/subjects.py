"""Whom a binding gives its role, one row for each: for commands and reviews that list who may do something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.access.policy import Binding


def grant_rows(binding: Binding) -> Iterator[dict[str, str]]:
    """Everybody whom a binding gives its role."""
    kind = "RoleBinding" if binding.key.namespace else "ClusterRoleBinding"
    role = f"{'Role' if binding.role.namespace else 'ClusterRole'}/{binding.role.name}"
    for subject in binding.subjects:
        yield {
            "kind": subject.kind,
            "subject": subject.name,
            "namespace": binding.key.namespace,
            "binding": f"{kind}/{binding.key.name}",
            "role": role,
        }
