"""How our Pods are reached, and whom they reach: Service and NetworkPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.kubernetes.objects.common import named
from muster.kubernetes.objects.workload import SELECTOR
from muster.kubernetes.settings import HEALTH_PORT, NAME, QUESTIONS_PORT, WEBHOOK_PORT
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.kubernetes.settings import HomeSettings


def service(settings: HomeSettings) -> JsonObject:
    """443 for webhooks, as the API server expects it where nobody says otherwise."""
    ports = [_port("metrics", HEALTH_PORT, "health")]
    if settings.has_webhooks:
        ports.append(_port("webhooks", 443, "webhooks"))
    if settings.has_questions:
        ports.append(_port("questions", QUESTIONS_PORT, "questions"))
    spec: JsonObject = {"type": "ClusterIP", "selector": dict(SELECTOR), "ports": ports}
    return named("v1", "Service", NAME, settings.namespace) | {"spec": spec}


def network_policy(settings: HomeSettings) -> JsonObject:
    """The API server comes from no Pod, and its address is nobody's to know: its ports are open to all, and ours to its
    usual ports. Metrics are for Pods of this cluster. Names are looked up."""
    called = [WEBHOOK_PORT] if settings.has_webhooks else []
    called += [QUESTIONS_PORT] if settings.has_questions else []
    ingress: list[JsonObject] = [{"ports": [_tcp(HEALTH_PORT)], "from": [{"namespaceSelector": {}}]}]
    ingress += [{"ports": [_tcp(port)]} for port in called]
    egress: list[JsonObject] = [
        {"ports": [_tcp(443), _tcp(6443)]},
        {"ports": [_tcp(53), {"port": 53, "protocol": "UDP"}]},
    ]
    spec: JsonObject = {
        "podSelector": {"matchLabels": dict(SELECTOR)},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": ingress,
        "egress": egress,
    }
    return named("networking.k8s.io/v1", "NetworkPolicy", NAME, settings.namespace) | {"spec": spec}


def _port(name: str, port: int, target: str) -> JsonObject:
    return {"name": name, "port": port, "targetPort": target, "protocol": "TCP"}


def _tcp(port: int) -> JsonObject:
    return {"port": port, "protocol": "TCP"}
