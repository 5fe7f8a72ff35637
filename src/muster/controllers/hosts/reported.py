"""Hosts of other kinds than Agent, where the server has them: what is watched, and where their labels are written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.api.agent import AGENT, GROUP
from muster.client.heads import Place
from muster.controllers.runtime.events import About
from muster.controllers.runtime.mirror import Mirror
from muster.importing.hosts import OTHER_KINDS, named_host
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from muster.controllers.hosts.world import AgentWorld
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.mirror import Stored
    from muster.importing.hosts import HostKind, ReportedHost
    from muster.values.faults import Fault


def mirror_of(kind: HostKind, world: AgentWorld, unreadable: Unreadable | None = None) -> Mirror[ReportedHost]:
    """Shows a world the hosts of a kind."""

    def remove(place: Place) -> None:
        world.remove_agent(Place(place.namespace, kind.host(place.name)))

    noted = None if unreadable is None else unreadable.of(kind.plural)
    return Mirror(kind.reader, partial(_put, kind, world), remove, unreadable=noted)


def mirrors(world: AgentWorld, unreadable: Unreadable) -> dict[str, Mirror[ReportedHost]]:
    """One for each kind, by plural."""
    return {plural: mirror_of(kind, world, unreadable) for plural, kind in OTHER_KINDS.items()}


def _put(kind: HostKind, world: AgentWorld, new: Stored[ReportedHost]) -> Fault | None:
    """What cannot be read of a host may be what a query looks at: it stays as it was."""
    if new.fault is None:
        world.put_reported(Place(new.place.namespace, kind.host(new.place.name)), new.obj)
    return new.fault


def path_of(host: Place) -> str:
    """Where the host is, by the name that it has among all hosts."""
    kind, name = named_host(host.name)
    if kind is None:
        return object_path(GROUP, "v1beta1", "agents", host.namespace, name)
    return object_path(kind.group, kind.version, kind.plural, host.namespace, name)


def about(host: Place) -> About:
    """The host as events name it."""
    kind, name = named_host(host.name)
    if kind is None:
        return About(f"{GROUP}/v1beta1", AGENT.kind, name, host.namespace)
    return About(f"{kind.group}/{kind.version}", kind.kind, name, host.namespace)
