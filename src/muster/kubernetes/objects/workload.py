"""Our program as Pods: namespace, account, Deployment, budget for disruptions.

One Pod leads, all of them answer webhooks and questions; so they stand on different machines where there are several,
and one at a time goes away. Pods meet Kubernetes' "restricted" standard, which the namespace enforces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster import __version__
from muster.kubernetes.objects.common import LABELS, named
from muster.kubernetes.settings import HEALTH_PORT, NAME, QUESTIONS_PORT, SECRET, WEBHOOK_PORT
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

SELECTOR: Final = {"app.kubernetes.io/name": NAME}
_USER: Final = 65532  # "nonroot" of images without a distribution in them
_SPREAD: Final = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
CERTIFICATES: Final = "/etc/muster/certificates"  # where cert-manager's are mounted


def namespace(settings: HomeSettings) -> JsonObject:
    head = named("v1", "Namespace", settings.namespace)
    head["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "restricted"}
    return head


def account(settings: HomeSettings) -> JsonObject:
    return named("v1", "ServiceAccount", NAME, settings.namespace) | {"automountServiceAccountToken": False}


def workload(settings: HomeSettings) -> Iterator[JsonObject]:
    yield _deployment(settings)
    yield named("policy/v1", "PodDisruptionBudget", NAME, settings.namespace) | {
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": dict(SELECTOR)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",  # a Pod that does not work keeps no machine from its repair
        }
    }


def arguments(settings: HomeSettings) -> list[str]:
    """What `muster kubernetes run` is told."""
    told = [f"--namespace={settings.namespace}", f"--mode={settings.mode}", f"--log-level={settings.log_level}"]
    told += [] if settings.webhooks else ["--no-webhooks"]
    told += ["--questions"] if settings.questions else []
    told += ["--cluster-profiles"] if settings.cluster_profiles else []
    told += [f"--certificates={CERTIFICATES}"] if settings.needs_serving and settings.cert_manager else []
    return told


def _deployment(settings: HomeSettings) -> JsonObject:
    head = named("apps/v1", "Deployment", NAME, settings.namespace)
    head["metadata"]["labels"] = {"app.kubernetes.io/version": __version__}
    return head | {
        "spec": {
            "replicas": settings.replicas,
            "selector": {"matchLabels": dict(SELECTOR)},
            # A new Pod answers before an old one goes: webhooks that guard permissions must not be without a backend.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": _pod(settings)},
        }
    }


def _pod(settings: HomeSettings) -> JsonObject:
    certificates: JsonObject = {"name": "certificates", "secret": {"secretName": SECRET}}
    mounted = settings.needs_serving and settings.cert_manager
    return restricted_pod(NAME) | {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(SELECTOR)},
            }
            for key in _SPREAD
        ],
        "containers": [_container(settings, mounted=mounted)],
        "volumes": [{"name": "tmp", "emptyDir": {}}, *([certificates] if mounted else [])],
        **settings.pod,
    }


def restricted_pod(account_name: str) -> JsonObject:
    """What Pods of ours have in common, whatever runs in them."""
    return {
        "serviceAccountName": account_name,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": 30,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def restricted_container(container: JsonObject) -> JsonObject:
    return container | {
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    }


def _container(settings: HomeSettings, *, mounted: bool) -> JsonObject:
    certificates: JsonObject = {"name": "certificates", "mountPath": CERTIFICATES, "readOnly": True}
    container: JsonObject = {
        "name": NAME,
        "image": settings.image,
        "command": ["muster", "kubernetes", "run"],
        "args": arguments(settings),
        "env": [
            _from_pod("POD_NAME", "metadata.name"),
            _from_pod("POD_NAMESPACE", "metadata.namespace"),
            {"name": "HOME", "value": "/tmp"},  # noqa: S108 - the Pod's own, and the only place it may write
        ],
        "ports": _ports(settings),
        "startupProbe": _probe("/livez", failureThreshold=30, periodSeconds=2),
        "livenessProbe": _probe("/livez", failureThreshold=3, periodSeconds=10),
        "readinessProbe": _probe("/readyz", failureThreshold=2, periodSeconds=5),
        "resources": {
            "requests": {"cpu": settings.resources.cpu, "memory": settings.resources.memory},
            "limits": {"cpu": settings.resources.cpu_limit, "memory": settings.resources.memory_limit},
        },
    }
    mounts = [{"name": "tmp", "mountPath": "/tmp"}, *([certificates] if mounted else [])]  # noqa: S108
    return restricted_container(container) | {"volumeMounts": mounts}


def _ports(settings: HomeSettings) -> list[JsonObject]:
    found: list[JsonObject] = [{"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"}]
    if settings.has_webhooks:
        found.append({"name": "webhooks", "containerPort": WEBHOOK_PORT, "protocol": "TCP"})
    if settings.has_questions:
        found.append({"name": "questions", "containerPort": QUESTIONS_PORT, "protocol": "TCP"})
    return found


def _from_pod(name: str, path: str) -> JsonObject:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def _probe(path: str, **numbers: int) -> JsonObject:
    return {"httpGet": {"path": path, "port": "health", "scheme": "HTTP"}, "timeoutSeconds": 5, **numbers}
