"""The access providers of a ClusterProfile: where the cluster is, and who makes credentials for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import Node, Part
from muster.api.reading import Reader
from muster.client.kubeconfig_files import Cluster
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONFIG: Final = "client.authentication.k8s.io/exec"
_MORE_ARGS: Final = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
_MORE_ENV: Final = "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs"


class _Extension(Node, frozen=True):
    name: str = ""
    extension: Json = None


class _Extended(Node, frozen=True):
    extensions: tuple[_Extension, ...] = ()


class _Provider(Part, frozen=True):
    name: str = ""
    cluster: JsonObject = msgspec.field(default_factory=dict)


class _Status(Node, frozen=True):
    access_providers: tuple[_Provider, ...] = ()
    credential_providers: tuple[_Provider, ...] = ()


class _Profile(Node, frozen=True):
    status: _Status = _Status()


class Provider(msgspec.Struct, frozen=True):
    """One way to a cluster."""

    name: str
    cluster: Cluster
    config: Json = None
    more_args: tuple[str, ...] = ()
    more_env: dict[str, str] = msgspec.field(default_factory=dict)


_PROFILES: Final = Reader(_Profile)
_CLUSTERS: Final = Reader(Cluster)
_EXTENDED: Final = Reader(_Extended)


def providers_of(profile: JsonMapping) -> Sequence[Provider]:
    """What a profile offers; the older name of the field counts where the newer one says nothing."""
    status = _PROFILES.of(profile).status
    return [_provider(each) for each in status.access_providers or status.credential_providers]


def _provider(given: _Provider) -> Provider:
    extensions = {each.name: each.extension for each in _EXTENDED.of(given.cluster).extensions}
    args, env = extensions.get(_MORE_ARGS), extensions.get(_MORE_ENV)
    return Provider(
        name=given.name,
        cluster=_CLUSTERS.of(given.cluster),
        config=extensions.get(_CONFIG),
        more_args=tuple(each for each in args if isinstance(each, str)) if isinstance(args, list) else (),
        more_env={key: value for key, value in env.items() if isinstance(value, str)} if isinstance(env, dict) else {},
    )
