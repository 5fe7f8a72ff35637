"""Owner references before a webhook: the same questions as in the hub, with the namespaces they are about."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission.review import validated
from tests.admission.writes import NOW, OCM, Nothing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.admission import Asker

Object = dict[str, Any]
OWNER = {"apiVersion": f"{OCM}/v1beta1", "kind": "Placement", "name": "p1", "uid": "u1"}


class Asked(Nothing):
    """Remembers what it was asked, and allows what it is told to."""

    def __init__(self, *allowed: str) -> None:
        self._allowed = allowed
        self.asked: list[str] = []

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        self.asked += [f"{verb} {resource} {namespace}/{name}" for name in names]
        return [name for name in names if verb not in self._allowed]


def a_decision(*owners: Object) -> Object:
    metadata = {"name": "d1", "namespace": "apps", "ownerReferences": list(owners)}
    return {"apiVersion": f"{OCM}/v1beta1", "kind": "PlacementDecision", "metadata": metadata}


def reviewed(world: Asked, new: Object | None, old: Object | None = None) -> str:
    """The refusal; empty when it is allowed."""
    request = {
        "uid": "u",
        "resource": {"group": OCM, "version": "v1beta1", "resource": "placementdecisions"},
        "operation": "CREATE" if old is None else "DELETE" if new is None else "UPDATE",
        "namespace": "apps",
        "name": "d1",
        "userInfo": {"username": "dev"},
        "object": new,
        "oldObject": old,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    response = asyncio.run(validated(review, world, NOW))["response"]
    assert response["allowed"] or response["status"]["code"] == 403
    return "" if response["allowed"] else str(response["status"]["message"])


@pytest.mark.parametrize(("new", "old"), [((OWNER,), ()), ((), (OWNER,)), (({**OWNER, "uid": "u2"},), (OWNER,))])
def test_a_webhook_asks_for_delete_when_owners_change(new: tuple[Object, ...], old: tuple[Object, ...]) -> None:
    world = Asked()
    refusal = reviewed(world, a_decision(*new), a_decision(*old))
    assert refusal.startswith(f'placementdecisions.{OCM} "d1" is forbidden: cannot set an ownerRef on a resource')
    assert world.asked == [f"delete placementdecisions.{OCM} apps/d1"]
    assert reviewed(Asked("delete"), a_decision(*new), a_decision(*old)) == ""


def test_a_write_that_leaves_owners_alone_asks_nothing() -> None:
    world = Asked()
    blocking = {**OWNER, "blockOwnerDeletion": True}
    assert reviewed(world, a_decision(blocking), a_decision(blocking)) == ""
    assert reviewed(world, a_decision(OWNER)) == ""
    assert reviewed(world, None, a_decision(blocking)) == ""
    assert world.asked == []


def test_a_blocking_owner_is_asked_for_where_it_is() -> None:
    world = Asked()
    assert "can't set finalizers on" in reviewed(world, a_decision({**OWNER, "blockOwnerDeletion": True}))
    assert world.asked == [f"update placements/finalizers.{OCM} apps/p1"]
    world = Asked()
    of_everybody = {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "name": "c1", "uid": "u"}
    reviewed(world, a_decision({**of_everybody, "blockOwnerDeletion": True}))
    assert world.asked == [f"update managedclusters/finalizers.{OCM} /c1"]
