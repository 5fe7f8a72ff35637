"""A plan where no server answers: the same functions as the server's, over objects that are read for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.fleets import gathered
from muster.cli.inputs.host_objects import host_objects
from muster.cli.inputs.options import with_client
from muster.cli.terminal.progress import under_way
from muster.controllers.placements.preview import KINDS
from muster.errors import ApiError
from muster.hub.applied_in_memory import changes_in
from muster.hub.objects import key_of
from muster.library.planning import is_loose, planned_over, present_of
from muster.questions.plan_hosts import KINDS as HOSTS
from muster.questions.plan_work import Hosts
from muster.values.api_paths import object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.fleet_plan import PlanSpec, PlanStatus
    from muster.client import Client
    from muster.hub.requests import Target
    from muster.hub.storage import Key

_NOT_FOUND: Final = 404


def planned_here(spec: PlanSpec, fleet: list[str] | None, context: str | None, kubeconfig: str | None) -> PlanStatus:
    """The status of a Plan, computed from files, or from what the user may read on a server."""
    now = datetime.now(UTC)
    changes, _ = changes_in(spec)
    objects, _ = gathered(fleet, context, kubeconfig)
    hosts = None
    if any(each.target.resource.kind in HOSTS for each in changes):
        found = host_objects(fleet, context, kubeconfig, everywhere=True)
        hosts = Hosts((*found.agents, *found.classifications), trusting=found.is_live)
    firm = [each for each in changes if not is_loose(each)]
    present = present_of((*objects, *(hosts.present if hosts is not None else ())), firm)
    namespaces = {each.target.namespace for each in firm} - {""}
    if not fleet:
        others = [each.target for each in firm if each.target.resource.kind not in (*KINDS, *HOSTS)]
        present |= with_client(lambda client: _read(client, others), context, kubeconfig)
        namespaces = with_client(lambda client: _existing(client, namespaces), context, kubeconfig)
    with under_way(f"trying it with {len(objects):,} objects", len(objects)):
        return planned_over(spec, objects, hosts, present, namespaces, now, alone=bool(fleet))


async def _read(client: Client, targets: Sequence[Target]) -> dict[Key, JsonObject]:
    """Objects of kinds that the fleet is not made of, those that are there."""
    found: dict[Key, JsonObject] = {}
    for target in targets:
        resource = target.resource
        path = object_path(resource.group, target.version.name, resource.plural, target.namespace, target.name)
        try:
            found[key_of(target)] = (await client.request("GET", path)).json()
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
    return found


async def _existing(client: Client, namespaces: set[str]) -> set[str]:
    """Those of the namespaces that are there. Who may not see one takes it for given."""
    found = set()
    for name in sorted(namespaces):
        try:
            await client.request("GET", object_path("", "v1", "namespaces", "", name))
        except ApiError as error:
            if error.code == _NOT_FOUND:
                continue
        found.add(name)
    return found
