"""The console behind an ingress, by a setting: a Pod of its own, whose account may do nothing.

Each user logs in with a bearer token, and the console asks the API server as that user; a request without one is
refused. So it shares nothing with the Pods that decide: neither their account nor their certificates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.kubernetes.objects.common import PART_OF, named
from muster.kubernetes.objects.workload import restricted_container, restricted_pod
from muster.kubernetes.settings import NAME
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

CONSOLE: Final = "muster-console"
CONSOLE_PORT: Final = 8080
CONSOLE_TLS: Final = "muster-console-tls"
_SELECTOR: Final = {"app.kubernetes.io/name": CONSOLE}


def console(settings: HomeSettings) -> Iterator[JsonObject]:
    home = settings.namespace
    yield _named("v1", "ServiceAccount", home) | {"automountServiceAccountToken": False}
    ports: list[JsonObject] = [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]
    yield _named("v1", "Service", home) | {"spec": {"type": "ClusterIP", "selector": dict(_SELECTOR), "ports": ports}}
    yield _deployment(settings)
    if settings.network_policy:
        yield _network_policy(home)
    yield _ingress(settings)


def _named(api_version: str, kind: str, namespace: str) -> JsonObject:
    """The head of an object of the console's: its name is not that of the Pods that decide, whose metrics are read."""
    head = named(api_version, kind, CONSOLE, namespace)
    head["metadata"]["labels"] = dict(_SELECTOR)
    return head


def _deployment(settings: HomeSettings) -> JsonObject:
    """One Pod: sessions are sealed with a key that it makes, so that users log in again when it starts again."""
    probe: JsonObject = {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 5}
    told = [f"--behind-ingress={settings.console}", "--host=0.0.0.0", f"--port={CONSOLE_PORT}"]
    container = restricted_container(
        {
            "name": "console",
            "image": settings.image,
            "command": ["muster", "console"],
            "args": told,
            "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the Pod's own, and the only place it may write
            "ports": [{"name": "http", "containerPort": CONSOLE_PORT, "protocol": "TCP"}],
            "startupProbe": probe | {"failureThreshold": 30, "periodSeconds": 2},
            "livenessProbe": probe | {"failureThreshold": 3, "periodSeconds": 10},
            "readinessProbe": probe | {"failureThreshold": 2, "periodSeconds": 5},
            "resources": {
                "requests": {"cpu": "50m", "memory": "128Mi"},
                "limits": {"cpu": "1", "memory": "512Mi"},
            },
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
        }
    )
    pod = restricted_pod(CONSOLE) | {
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        **settings.pod,
    }
    return _named("apps/v1", "Deployment", settings.namespace) | {
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": dict(_SELECTOR)},
            "template": {"metadata": {"labels": {**_SELECTOR, PART_OF: NAME}}, "spec": pod},
        }
    }


def _network_policy(namespace: str) -> JsonObject:
    """The ingress comes from a Pod of this cluster; the console reaches the API server and looks up names."""
    tcp: list[JsonObject] = [{"port": port, "protocol": "TCP"} for port in (443, 6443)]
    names: list[JsonObject] = [{"port": 53, "protocol": protocol} for protocol in ("TCP", "UDP")]
    return _named("networking.k8s.io/v1", "NetworkPolicy", namespace) | {
        "spec": {
            "podSelector": {"matchLabels": dict(_SELECTOR)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                {"ports": [{"port": CONSOLE_PORT, "protocol": "TCP"}], "from": [{"namespaceSelector": {}}]},
            ],
            "egress": [{"ports": tcp}, {"ports": names}],
        }
    }


def _ingress(settings: HomeSettings) -> JsonObject:
    """Of the cluster's usual class. The certificate is in a Secret that whoever runs the ingress puts there."""
    host = settings.console.removeprefix("https://")
    backend: JsonObject = {"service": {"name": CONSOLE, "port": {"name": "http"}}}
    paths: list[JsonObject] = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return _named("networking.k8s.io/v1", "Ingress", settings.namespace) | {
        "spec": {
            "tls": [{"hosts": [host], "secretName": CONSOLE_TLS}],
            "rules": [{"host": host, "http": {"paths": paths}}],
        }
    }
