"""Roles and bindings as commands show them: read from a server or from objects, in rows.

Computed with the hub's own functions, so that the answers are those of the authorizer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from muster.values.api_paths import collection_path
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.access.policy import Policy
    from muster.client import Client

_RBAC = "rbac.authorization.k8s.io"
_ROLES, _BINDINGS = ("ClusterRole", "Role"), ("ClusterRoleBinding", "RoleBinding")


async def live_policy(client: Client) -> Policy:
    """All roles and bindings of a server. Needs the right to list them."""
    objects = []
    for kind in (*_ROLES, *_BINDINGS):
        async for page in client.pages(collection_path(_RBAC, "v1", f"{kind.lower()}s")):
            objects += [{"kind": kind, **item} for item in page["items"]]
    return policy_of(objects)


def policy_of(objects: Iterable[JsonMapping]) -> Policy:
    """The roles and bindings among the objects."""
    from muster.access.policy import Policy

    policy = Policy()
    for each in objects:
        if each["kind"] in _ROLES:
            policy.put_role(each)
        elif each["kind"] in _BINDINGS:
            policy.put_binding(each)
    return policy


def print_rows(rows: Sequence[Mapping[str, str]]) -> None:
    """A table with the keys of the first row as header; an empty cell stands for everything."""
    table = [[key.upper() for key in rows[0]], *([cell or "*" for cell in row.values()] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        sys.stdout.write(
            "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        )
