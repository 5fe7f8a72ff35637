"""Programs beside the controllers, by settings: whoever looks at imported clusters, and whoever lets clusters in.

Each has Pods, an account and a lease of its own. Looking takes the credentials of clusters, letting in gives rights
away: neither is anything that those who decide placements need. What each may do is what `controllers/permissions.py`
says; two Pods, of which one leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.controllers.permissions import REGISTERING, REGISTRATION, SYNC, SYNC_LEADING, SYNCING
from muster.kubernetes.objects.common import PART_OF, RBAC, named, role_ref
from muster.kubernetes.objects.workload import restricted_container, restricted_pod
from muster.kubernetes.settings import HEALTH_PORT, NAME
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.kubernetes.settings import HomeSettings

COMPANIONS: Final = (SYNC, REGISTRATION)
_REPLICAS: Final = 2
_PROBES: Final = {
    "startupProbe": ("/livez", 30, 2),
    "livenessProbe": ("/livez", 3, 10),
    "readinessProbe": ("/readyz", 2, 5),
}


@dataclass(frozen=True, slots=True)
class _Companion:
    """One program: its rights everywhere and in our namespace, and what it is told."""

    name: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    everywhere: Sequence[JsonObject]
    here: Sequence[JsonObject]
    cpu: str
    memory: str
    goes_anywhere: bool = False  # clusters are wherever they are, on whatever port


def companions(settings: HomeSettings) -> Iterator[JsonObject]:
    home = settings.namespace
    if settings.sync:
        told: tuple[str, ...] = ("--watch", f"--lease-namespace={home}", f"--listen=0.0.0.0:{HEALTH_PORT}")
        command: tuple[str, ...] = ("muster", "sync")
        sync = _Companion(SYNC, command, told, SYNCING, SYNC_LEADING, "1", "1Gi", goes_anywhere=True)
        yield from _objects(settings, sync)
    if settings.registration:
        told = (f"--namespace={home}", f"--log-level={settings.log_level}", f"--listen=0.0.0.0:{HEALTH_PORT}")
        command = ("muster", "kubernetes", "registration")
        leading = [
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "resourceNames": [REGISTRATION],
                "verbs": ["get", "update"],
            },
        ]
        yield from _objects(settings, _Companion(REGISTRATION, command, told, REGISTERING, leading, "1", "512Mi"))


def _objects(settings: HomeSettings, given: _Companion) -> Iterator[JsonObject]:
    name, home = given.name, settings.namespace
    yield _named("v1", "ServiceAccount", name, home) | {"automountServiceAccountToken": False}
    yield _named(f"{RBAC}/v1", "ClusterRole", name) | {"rules": list(given.everywhere)}
    yield _bound("ClusterRoleBinding", "ClusterRole", name, home, "")
    yield _named(f"{RBAC}/v1", "Role", name, home) | {"rules": list(given.here)}
    yield _bound("RoleBinding", "Role", name, home, home)
    ports: list[JsonObject] = [{"name": "metrics", "port": HEALTH_PORT, "targetPort": "health", "protocol": "TCP"}]
    spec: JsonObject = {"type": "ClusterIP", "selector": _selector(name), "ports": ports}
    yield _named("v1", "Service", name, home) | {"spec": spec}
    yield _deployment(settings, given)
    if settings.network_policy:
        yield _network_policy(given, home)
    if settings.monitoring:
        yield _named("monitoring.coreos.com/v1", "ServiceMonitor", name, home) | {
            "spec": {
                "selector": {"matchLabels": _selector(name)},
                "endpoints": [{"port": "metrics", "path": "/metrics", "interval": "30s"}],
            }
        }


def _selector(name: str) -> JsonObject:
    return {"app.kubernetes.io/name": name}


def _named(api_version: str, kind: str, name: str, namespace: str = "") -> JsonObject:
    """Its name is not that of the Pods that decide, whose metrics are read."""
    head = named(api_version, kind, name, namespace)
    head["metadata"]["labels"] = _selector(name)
    return head


def _bound(kind: str, role: str, name: str, home: str, namespace: str) -> JsonObject:
    subject = {"kind": "ServiceAccount", "name": name, "namespace": home}
    return _named(f"{RBAC}/v1", kind, name, namespace) | {"roleRef": role_ref(role, name), "subjects": [subject]}


def _deployment(settings: HomeSettings, given: _Companion) -> JsonObject:
    probes = {
        name: {
            "httpGet": {"path": path, "port": "health", "scheme": "HTTP"},
            "timeoutSeconds": 5,
            "failureThreshold": failures,
            "periodSeconds": seconds,
        }
        for name, (path, failures, seconds) in _PROBES.items()
    }
    container = restricted_container(
        {
            "name": given.name.removeprefix(f"{NAME}-"),
            "image": settings.image,
            "command": list(given.command),
            "args": list(given.args),
            "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the Pod's own, and the only place it may write
            "ports": [{"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"}],
            **probes,
            "resources": {
                "requests": {"cpu": "50m", "memory": "128Mi"},
                "limits": {"cpu": given.cpu, "memory": given.memory},
            },
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
        }
    )
    pod = restricted_pod(given.name) | {
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        **settings.pod,
    }
    return _named("apps/v1", "Deployment", given.name, settings.namespace) | {
        "spec": {
            "replicas": _REPLICAS,
            "selector": {"matchLabels": _selector(given.name)},
            "template": {"metadata": {"labels": {**_selector(given.name), PART_OF: NAME}}, "spec": pod},
        }
    }


def _network_policy(given: _Companion, namespace: str) -> JsonObject:
    """Metrics are for Pods of this cluster; whoever looks at clusters goes where they are."""
    tcp: list[JsonObject] = [{"port": port, "protocol": "TCP"} for port in (443, 6443)]
    names: list[JsonObject] = [{"port": 53, "protocol": protocol} for protocol in ("TCP", "UDP")]
    reached: list[JsonObject] = [{}] if given.goes_anywhere else [{"ports": tcp}, {"ports": names}]
    return _named("networking.k8s.io/v1", "NetworkPolicy", given.name, namespace) | {
        "spec": {
            "podSelector": {"matchLabels": _selector(given.name)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"ports": [{"port": HEALTH_PORT, "protocol": "TCP"}], "from": [{"namespaceSelector": {}}]}],
            "egress": reached,
        }
    }
