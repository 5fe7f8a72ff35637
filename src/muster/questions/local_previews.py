"""ResolutionPreview without a hub: the resolution and the ConfigMaps that it names are read for it, one by one.

`local` hands questions over. What is resolved and told is the observer's part; which catalogs the server itself has is
known to nobody here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import PartialObject
from muster.api.reading import Reader
from muster.api.resolution import CATALOG_LABEL, Resolution
from muster.api.resolution import GROUP as RESOLUTIONS
from muster.client.heads import Place
from muster.controllers.questions.kinds import Refusal
from muster.controllers.resolutions.worker import CatalogCache, preview_of
from muster.controllers.resolutions.world import is_named
from muster.controllers.runtime.mirror import Mirror
from muster.errors import ApiError
from muster.questions.asked import Scope
from muster.values.api_paths import object_path
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from muster.api.fleet_resolution import ResolutionPreviewSpec, ResolutionPreviewStatus
    from muster.controllers.resolutions.jobs import Job
    from muster.questions.local_fleet import LocalFleet

_FORBIDDEN, _NOT_FOUND, _INVALID = 403, 404, 422
_RESOLUTIONS: Final = Reader(Resolution)
_CATALOGS: Final = Reader(PartialObject)


async def readable_catalogs(asked: ResolutionPreviewSpec, fleet: LocalFleet) -> Scope:
    """Read what the question is about; the ConfigMaps that the user may get. Raises ApiError and Refusal."""
    world, client = fleet.resolutions, fleet.client
    if asked.resolution is not None:
        spec = msgspec.json.encode(object_at(asked.resolution, "spec"))
    else:
        path = object_path(RESOLUTIONS, "v1alpha1", "resolutions", asked.namespace, asked.name)
        found = (await client.request("GET", path)).body
        Mirror(_RESOLUTIONS, world.put_resolution, world.remove_resolution).put(found)
        spec = bytes(world.saved_spec(Place(asked.namespace, asked.name)) or b"{}")
    sources = world.sources(spec)
    own = [each.name for each in sources if is_named(each)]
    if own or not sources:
        what = (
            f"catalog {own[0]!r} is the server's own" if own else "it names no catalog, and so means the server's own"
        )
        text = f"{what}, and the server does not resolve with its own for you: give a catalog that you can read"
        raise Refusal(_INVALID, f"spec.catalogs: {text}")
    names = {each.config_map.name for each in sources if each.config_map is not None}
    closed = {name for name in names if not await _read_map(fleet, Place(asked.namespace, name))}
    return Scope(names=frozenset(f"{asked.namespace}/{name}" for name in names - closed))


async def _read_map(fleet: LocalFleet, place: Place) -> bool:
    """Whether the ConfigMap may be read. Controllers see only those that say that they are catalogs."""
    world = fleet.resolutions
    try:
        found = (await fleet.client.request("GET", object_path("", "v1", "configmaps", *place))).body
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NOT_FOUND):
            raise
        world.remove_config_map(place)
        return error.code == _NOT_FOUND
    if object_at(msgspec.json.decode(found), "metadata", "labels").get(CATALOG_LABEL) == "true":
        Mirror(_CATALOGS, world.put_config_map, world.remove_config_map).put(found)
    else:
        world.remove_config_map(place)
    return True


class ResolvedHere:
    """Resolves in a thread of this process: for commands, which wait for nothing else."""

    async def preview(self, job: Job, limit: float) -> ResolutionPreviewStatus:
        del limit  # the job has its own
        assert job.preview is not None  # noqa: S101 - whoever asks here wants one
        return await asyncio.to_thread(preview_of, job, job.preview, CatalogCache())

    async def close(self) -> None:
        """Nothing to be ended."""
