"""Hangs the controllers of clusters that join, and of their profiles, on what a manager watches. `manager` calls it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.api.registration import CLUSTER_LABEL
from muster.client.reflector import Reflector
from muster.controllers.profiles.controller import ProfileController
from muster.controllers.registration.controller import CLUSTERS, REQUESTS, RegistrationController
from muster.controllers.runtime.events import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Client, Discovery, ServedResource
    from muster.client.reflector import Handler
    from muster.controllers.manager import Manager
    from muster.controllers.runtime.late_kinds import LateKinds

Listeners = dict["ServedResource", list["Handler"]]


def let_clusters_in(
    manager: Manager,
    client: Client,
    clock: Callable[[], datetime],
    watched: tuple[Discovery, Listeners, LateKinds],
    *,
    everybody: bool,
) -> list[Reflector]:
    """With a client of its own; the reflectors that it needs besides."""
    discovery, listeners, late = watched
    events = EventRecorder(client, "registration-controller", clock)
    controller = RegistrationController(client, clock, manager.metrics, events, manager.unreadable, everybody=everybody)
    manager.companions.append(controller)
    listeners[discovery.named(CLUSTERS)].append(controller.cluster_handler())
    return late.reflector(discovery, REQUESTS, partial(_requests, client, controller.request_handler()))


def keep_profiles(
    manager: Manager, client: Client, clock: Callable[[], datetime], discovery: Discovery, listeners: Listeners
) -> None:
    controller = ProfileController(manager.world, client, clock, manager.metrics, manager.unreadable)
    manager.companions.append(controller)
    for name, handler in controller.handlers().items():
        listeners.setdefault(discovery.named(name), []).append(handler)


def _requests(client: Client, handler: Handler, resource: ServedResource) -> Reflector:
    return Reflector(client, resource, handler, labels=CLUSTER_LABEL)
