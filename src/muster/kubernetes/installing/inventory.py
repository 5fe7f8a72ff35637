"""What was installed: a ConfigMap beside our Pods with the version, the settings and every object.

An upgrade starts from its settings and removes what its objects have more; an uninstall removes them. It is written
before anything else, with what is there and what is to come, so that an installation that broke off can be removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster import __version__
from muster.errors import InvalidObjectError
from muster.kubernetes.installing.cluster import ObjectId, id_from
from muster.kubernetes.objects.common import labelled, named
from muster.kubernetes.settings import HomeSettings, changed_values, settings_from
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.kubernetes.installing.cluster import Cluster

CONFIG_MAP: Final = "muster-installation"


@dataclass(frozen=True, slots=True)
class Inventory:
    """One installation, as it was left."""

    version: str
    settings: HomeSettings
    objects: tuple[ObjectId, ...]


def inventory_id(namespace: str) -> ObjectId:
    return ObjectId("v1", "ConfigMap", namespace, CONFIG_MAP)


async def read_inventory(cluster: Cluster, namespace: str) -> Inventory | None:
    """None where nothing of ours was installed by `muster kubernetes install`. Raises InvalidObjectError for one that
    cannot be read, ApiError where it may not be."""
    found = await cluster.get(inventory_id(namespace))
    return None if found is None else inventory_from(found)


def inventory_from(config_map: JsonMapping) -> Inventory:
    where = f"ConfigMap {text_at(config_map, 'metadata', 'namespace')}/{CONFIG_MAP}"
    try:
        values = msgspec.json.decode(text_at(config_map, "data", "settings"), type=dict)
        settings = settings_from(values)
    except (msgspec.DecodeError, InvalidObjectError) as error:
        told = f"its settings cannot be read ({error}); delete it and install again with the settings you want"
        raise InvalidObjectError(where, told) from None
    lines = text_at(config_map, "data", "objects").splitlines()
    objects = tuple(each for each in map(id_from, lines) if each is not None)
    return Inventory(text_at(config_map, "data", "version"), settings, objects)


def inventory_object(settings: HomeSettings, objects: Iterable[ObjectId]) -> JsonObject:
    """The ConfigMap of an installation by this version."""
    values = {"namespace": settings.namespace, **changed_values(settings)}
    data = {
        "version": __version__,
        "settings": msgspec.json.encode(values).decode(),
        "objects": "".join(f"{each.line}\n" for each in objects),
    }
    return labelled(named("v1", "ConfigMap", CONFIG_MAP, settings.namespace)) | {"data": data}
