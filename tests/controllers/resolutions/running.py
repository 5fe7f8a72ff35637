"""The resolution controller alone beside a hub, and what tests say to it about catalogs and resolutions."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from muster.api.resolution import CATALOG_LABEL
from muster.client import Client
from muster.client.reflector import Reflector
from muster.controllers.manager import utc_now
from muster.controllers.permissions import CONTROLLERS
from muster.controllers.resolutions.controller import ResolutionController
from muster.controllers.runtime.metrics import ControllerMetrics
from tests.controllers.hosts.running import in_a_thread, run_synced
from tests.controllers.running import Driver, connection_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.hub.rest.running import RunningHub

BASE = "/apis/resolution.muster.dev/v1alpha1/namespaces"
Object = dict[str, Any]


@contextlib.contextmanager
def resolution_controller(
    hub: RunningHub, catalogs: Mapping[str, Path] | None = None
) -> Iterator[ResolutionController]:
    """The controller in a thread, with no more than its role allows."""

    async def run(started: Callable[[ResolutionController], None], _: Callable[[], object]) -> None:
        async with Client(connection_of(hub, CONTROLLERS)) as client:
            discovery = await client.discover()
            controller = ResolutionController(client, utc_now, ControllerMetrics(), catalogs or {}, look_every=0.05)
            reflectors = [
                Reflector(client, discovery.named(name), each) for name, each in controller.handlers().items()
            ]
            maps, selector = discovery.named("configmaps.v1"), f"{CATALOG_LABEL}=true"
            reflectors.append(Reflector(client, maps, controller.catalog_handler(), labels=selector))
            await run_synced(reflectors, controller, started)

    with in_a_thread(run, gently=True) as controller:
        yield controller


def blobs(package: str, *versions: str, requires: Mapping[str, list[Object]] | None = None) -> list[Object]:
    """A package with one channel, in which each version replaces the one before; some with more properties."""
    names = [f"{package}.v{version}" for version in versions]
    entries = [{"name": name, **({"replaces": names[at - 1]} if at else {})} for at, name in enumerate(names)]
    made: list[Object] = [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": entries},
    ]
    for name, version in zip(names, versions, strict=True):
        own = {"type": "olm.package", "value": {"packageName": package, "version": version}}
        more = (requires or {}).get(version, [])
        made.append({"schema": "olm.bundle", "name": name, "package": package, "properties": [own, *more]})
    return made


def needs(package: str, wanted: str) -> Object:
    return {"type": "olm.package.required", "value": {"packageName": package, "versionRange": wanted}}


def resolution(name: str, **spec: Any) -> Object:
    return {
        "apiVersion": "resolution.muster.dev/v1alpha1",
        "kind": "Resolution",
        "metadata": {"name": name},
        "spec": spec,
    }


def ask(hub: Driver, name: str, namespace: str = "apps", **spec: Any) -> None:
    hub.send("POST", f"{BASE}/{namespace}/resolutions", resolution(name, **spec))


def put_catalog(hub: Driver, name: str, files: Mapping[str, list[Object]], *, label: bool = True) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {CATALOG_LABEL: "true"} if label else {}},
        "data": {key: "\n".join(map(json.dumps, value)) for key, value in files.items()},
    }
    path = f"/api/v1/namespaces/apps/configmaps/{name}"
    if hub.get(path) is None:
        hub.send("POST", path.rpartition("/")[0], body)
    else:
        hub.send("PUT", path, body)


def status(hub: Driver, name: str, namespace: str = "apps") -> Object:
    found: Object = hub.get(f"{BASE}/{namespace}/resolutions/{name}").get("status") or {}
    return found


def outcome(hub: Driver, name: str, namespace: str = "apps") -> tuple[str, str] | None:
    return hub.condition(f"{BASE}/{namespace}/resolutions/{name}", "Resolved")


def plan(hub: Driver, name: str) -> list[str]:
    return [f"{step['action']} {step['name']}" for step in status(hub, name).get("plan", ())]
