"""What other inventories say of clusters: ManagedClusters of another hub, ClusterProfiles, cluster secrets of Argo CD.

Objects come from servers of others: whatever they hold, something is found or a fault is told.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import Final

import msgspec

from muster.api.managed_cluster import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.importing.found import BY_PROFILE, Found, State, cluster_name, fitting_labels
from muster.importing.objects import CLUSTERS
from muster.importing.rules import merged
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject

AVAILABLE: Final = "ManagedClusterConditionAvailable"
HEALTHY: Final = "ControlPlaneHealthy"
PROFILE_MANAGER: Final = "x-k8s.io/cluster-manager"
ARGO_SECRET_TYPE: Final = "argocd.argoproj.io/secret-type"  # noqa: S105 - the name of a label
# Sets, and what a cluster is called there, are that place's own business.
_LEFT_OUT: Final = (
    PROFILE_MANAGER,
    ARGO_SECRET_TYPE,
    f"{GROUP}/clusterset",
    "multicluster.x-k8s.io/clusterset",
    "open-cluster-management.io/cluster-name",
)
_ARGO_ITSELF: Final = "https://kubernetes.default.svc"
OURS: Final = "open-cluster-management"  # the manager of profiles that OCM, and this hub, write themselves


class _Fact(Part, frozen=True):
    name: str = ""
    value: str = ""


class _Version(Part, frozen=True):
    kubernetes: str = ""


class _Server(Part, frozen=True):
    server: str = ""
    certificate_authority_data: str = msgspec.field(default="", name="certificate-authority-data")


class _Provider(Node, frozen=True):
    name: str = ""
    cluster: _Server = _Server()


class _Manager(Part, frozen=True):
    name: str = ""


class _ProfileSpec(Node, frozen=True):
    cluster_manager: _Manager = _Manager()


class _ProfileStatus(Node, frozen=True):
    version: _Version = _Version()
    properties: tuple[_Fact, ...] = ()
    conditions: tuple[Condition, ...] = ()
    access_providers: tuple[_Provider, ...] = ()
    credential_providers: tuple[_Provider, ...] = ()


class _Profile(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _ProfileSpec = _ProfileSpec()
    status: _ProfileStatus = _ProfileStatus()


class _Secret(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


class ArgoTls(Part, frozen=True):
    insecure: bool = False
    server_name: str = ""
    ca_data: str = ""
    cert_data: str = ""
    key_data: str = ""


class ArgoConfig(Node, frozen=True):
    """The credentials in a cluster secret, as far as they can be used without starting anything."""

    username: str = ""
    password: str = ""
    bearer_token: str = ""
    tls_client_config: ArgoTls = ArgoTls()
    exec_provider_config: JsonObject | None = None
    aws_auth_config: JsonObject | None = None


_PROFILES: Final = Reader(_Profile)
_SECRETS: Final = Reader(_Secret)
_CONFIGS: Final = Reader(ArgoConfig)


def from_ocm(obj: JsonMapping, origin: str) -> Found:
    """A ManagedCluster of another hub, with what its agent has told there. Its set is that hub's business."""
    cluster = CLUSTERS.of(obj)
    status = cluster.status
    labels, notes = _labels(cluster.metadata)
    claims = merged(
        ({each.name: each.value for each in (*status.properties, *status.cluster_claims)},),
        {},
    )
    available = next((each for each in status.conditions if each.type == AVAILABLE), None)
    state = State(
        version=status.version.kubernetes or None,
        capacity={key: str(value) for key, value in status.capacity.items()} or None,
        allocatable={key: str(value) for key, value in status.allocatable.items()} or None,
        claims=claims.values,
        available=None if available is None else (available.status, available.reason, available.message),
    )
    configs = cluster.spec.managed_cluster_client_configs
    address = next((each for each in configs if each.url.startswith("https://")), None)
    return Found(
        name=cluster.metadata.name,
        origin=origin,
        source="ocm",
        labels=labels,
        url="" if address is None else address.url,
        authority="" if address is None else address.ca_bundle,
        state=state,
        notes=(*notes, *claims.faults),
    )


def is_written_from_clusters(profile: JsonMapping) -> bool:
    """Whether a ClusterProfile says what a ManagedCluster of the same server says already."""
    return _PROFILES.of(profile).spec.cluster_manager.name == OURS


def from_profile(obj: JsonMapping, origin: str) -> Found:
    """A ClusterProfile: properties are claims; its access providers are how to get there."""
    profile = _PROFILES.of(obj)
    status = profile.status
    labels, notes = _labels(profile.metadata)
    claims = merged(({each.name: each.value for each in status.properties},), {})
    healthy = next((each for each in status.conditions if each.type == HEALTHY), None)
    providers = status.access_providers or status.credential_providers
    server = providers[0].cluster if providers else _Server()
    if not providers:
        notes = (*notes, "it has no accessProviders: `muster sync` cannot get there")
    return Found(
        name=cluster_name(profile.metadata.name),
        origin=origin,
        source="clusterprofiles",
        labels=labels,
        url=server.server,
        authority=server.certificate_authority_data,
        access=f"{BY_PROFILE}{profile.metadata.namespace}/{profile.metadata.name}" if providers else "",
        state=State(
            version=status.version.kubernetes or None,
            claims=claims.values or None,
            available=None if healthy is None else (healthy.status, healthy.reason, healthy.message),
        ),
        notes=(*notes, *claims.faults),
    )


class ArgoCluster(msgspec.Struct, frozen=True):
    """A cluster secret: what is found, and a kubeconfig to look at the cluster with, if one can be made."""

    found: Found
    config: JsonObject | None = None


def from_argocd(obj: JsonMapping, origin: str) -> ArgoCluster:
    """A cluster secret of Argo CD. Credentials that a program would have to make are told, not tried."""
    secret = _SECRETS.of(obj)
    labels, notes = _labels(secret.metadata)
    try:
        name, server = (_decoded(secret.data, key) for key in ("name", "server"))
        config = _CONFIGS.read(_decoded(secret.data, "config").encode() or b"{}")
    except ValueError as error:
        return ArgoCluster(Found(cluster_name(secret.metadata.name), origin, "argocd", fault=str(error)))
    found = Found(cluster_name(name or server), origin, "argocd", labels, url=server, notes=notes)
    if isinstance(config, Fault):
        return ArgoCluster(replace(found, fault=f"config: {config.message}"))
    wanted = config.obj
    if not server.startswith("https://"):
        return ArgoCluster(replace(found, fault=f"its server {server!r} is no https address"))
    if server.rstrip("/") == _ARGO_ITSELF:
        text = "it is the cluster that Argo CD runs in: `muster import kubeconfig` takes it, with a context of yours"
        return ArgoCluster(replace(found, fault=text))
    if wanted.tls_client_config.insecure:
        return ArgoCluster(_noted(found, "its secret says insecure: it is not looked at, certificates are verified"))
    if wanted.exec_provider_config is not None or wanted.aws_auth_config is not None:
        return ArgoCluster(_noted(found, "a program makes its credentials: it is not looked at"))
    return ArgoCluster(found, _kubeconfig(found.name, server, wanted))


def _kubeconfig(name: str, server: str, config: ArgoConfig) -> JsonObject:
    tls = config.tls_client_config
    cluster = {"server": server, "certificate-authority-data": tls.ca_data, "tls-server-name": tls.server_name}
    user = {
        "token": config.bearer_token,
        "username": config.username,
        "password": config.password,
        "client-certificate-data": tls.cert_data,
        "client-key-data": tls.key_data,
    }
    return kubeconfig(name, cluster, user)


def kubeconfig(name: str, cluster: JsonObject, user: JsonObject, namespace: str = "") -> JsonObject:
    """A kubeconfig of one context, without what is empty."""
    context = {"cluster": name, "user": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {key: value for key, value in cluster.items() if value}}],
        "contexts": [{"name": name, "context": {key: value for key, value in context.items() if value}}],
        "users": [{"name": name, "user": {key: value for key, value in user.items() if value}}],
    }


def _labels(metadata: ObjectMeta) -> tuple[dict[str, str], tuple[str, ...]]:
    return fitting_labels({key: value for key, value in metadata.labels.items() if key not in _LEFT_OUT})


def _decoded(data: dict[str, str], key: str) -> str:
    try:
        return base64.b64decode(data.get(key, ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"its key {key!r} cannot be read: {error}") from error


def _noted(found: Found, note: str) -> Found:
    return replace(found, notes=(*found.notes, note))
