"""The kinds as CustomResourceDefinitions, from the registry.

A kind with several versions needs somebody who converts: with webhooks our Pods do, without them only the version that
is stored is served. `--crds upstream` leaves out what others define: Open Cluster Management and whoever else owns a
group. Nobody here knows what a server has already; `installing` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.api.crds import definition
from muster.kubernetes.objects.common import named
from muster.kubernetes.policies import crd_validations
from muster.kubernetes.serving.configurations import conversion
from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.resource import Resource
    from muster.kubernetes.settings import HomeSettings

CRD: Final = "CustomResourceDefinition"
OWN_DOMAIN: Final = "muster.dev"


def kinds(settings: HomeSettings) -> Iterator[Resource]:
    """The kinds whose definitions are installed: what is stored and neither Kubernetes' own nor left to others."""
    for resource in RESOURCES.values():
        ours = settings.crds == "ours" or (settings.crds == "upstream" and is_ours_alone(resource.group))
        if ours and not (resource.builtin or resource.virtual or resource.custom):
            yield resource


def is_ours_alone(group: str) -> bool:
    """Whether nobody else defines kinds of this group."""
    return group.endswith(f".{OWN_DOMAIN}")


def crds(settings: HomeSettings) -> Iterator[JsonObject]:
    for resource in kinds(settings):
        yield crd(resource, settings, converted=settings.has_webhooks)


def crd(resource: Resource, settings: HomeSettings, *, converted: bool) -> JsonObject:
    """The definition of a kind; `converted` says whether there is somebody who converts between its versions."""
    spec: JsonObject = dict(definition(resource, "")["spec"])
    if resource.convert is not None and not converted:
        spec["versions"] = [version for version in spec["versions"] if version["storage"]]
    spec["versions"] = [_with_validations(resource, version) for version in spec["versions"]]
    if len(spec["versions"]) > 1:
        spec["conversion"] = conversion(settings)
    return named("apiextensions.k8s.io/v1", CRD, resource.key) | {"spec": spec}


def _with_validations(resource: Resource, version: JsonObject) -> JsonObject:
    schema: Schema = version["schema"]["openAPIV3Schema"]
    return version | {"schema": {"openAPIV3Schema": crd_validations(resource.key, version["name"], schema)}}
