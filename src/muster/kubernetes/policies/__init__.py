"""Permissions that hold in the API server itself, whether or not a program of ours runs there: policies, and the rules
that our CustomResourceDefinitions carry.

A Kubernetes server evaluates these with every write, next to its own roles: nothing has to be reachable. One module per
family of rules; `policy.py` makes the objects, `expressions.py` the CEL. The hub has the same rules as functions
(`muster.admission`), and tests hold both against each other on a real server. Called by what makes the manifests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api import RESOURCES
from muster.api.cel_rules import with_rules
from muster.kubernetes.policies.acceptance import accepting
from muster.kubernetes.policies.approving import approving
from muster.kubernetes.policies.moves import default_label, join_by_default_key, join_by_other_keys
from muster.kubernetes.policies.owners import owners
from muster.kubernetes.policies.sets import binding, exclusive_key
from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from muster.kubernetes.settings import HomeSettings

__all__ = ["crd_validations", "policies"]


def policies(settings: HomeSettings) -> list[JsonObject]:
    """The policies and their bindings, for servers from 1.36 on. Beside or instead of a part of Open Cluster Management
    there is only the one about guards of placements, which are ours: its own webhooks guard the sets there.

    Older servers do not know MutatingAdmissionPolicy in v1: whoever applies these to one leaves out the objects of that
    kind and of its binding, and a webhook sets the label.
    """
    if not settings.policies:
        return []
    if settings.mode != "alone":
        return approving()
    return [
        *default_label(),
        *join_by_default_key(),
        *join_by_other_keys(),
        *accepting(),
        *exclusive_key(),
        *binding(),
        *owners(),
        *approving(),
    ]


def crd_validations(key: str, version: str, schema: Schema) -> Schema:  # noqa: ARG001 - all versions have the same
    """The schema of a kind's version, with the rules that its definition can carry. Those that are there stay once."""
    return with_rules(schema, RESOURCES[key].cel_rules)
