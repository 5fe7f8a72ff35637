"""Everything that is installed, from one place in code: `muster kubernetes manifests` prints it, `install` applies it,
the chart and the kustomization are made of it.

The same settings give the same objects in the same order: what others need comes first, what makes the API server call
us comes last. It knows no server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.kubernetes.objects.certificates import certificates, with_authority
from muster.kubernetes.objects.common import labelled
from muster.kubernetes.objects.companions import companions
from muster.kubernetes.objects.console import console
from muster.kubernetes.objects.crds import crds
from muster.kubernetes.objects.monitoring import monitoring
from muster.kubernetes.objects.network import network_policy, service
from muster.kubernetes.objects.roles import delegation, roles
from muster.kubernetes.objects.user_roles import user_roles
from muster.kubernetes.objects.workload import account, namespace, workload
from muster.kubernetes.policies import policies
from muster.kubernetes.serving.configurations import api_service, webhook_configurations
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings


def objects(settings: HomeSettings) -> list[JsonObject]:
    """What the settings ask for, in the order in which it is applied."""
    return [labelled(each) for each in _objects(settings)]


def _objects(settings: HomeSettings) -> Iterator[JsonObject]:
    # 1. Where and what: everything else is in the namespace or about the kinds.
    yield namespace(settings)
    for each in crds(settings):
        is_called = "conversion" in each["spec"] and each["spec"]["conversion"]["strategy"] == "Webhook"
        yield with_authority(each, settings) if is_called else each
    # 2. Who may do what.
    called = [with_authority(each, settings) for each in _called_by_server(settings)]
    yield account(settings)
    yield from roles(settings, called)
    yield from user_roles()
    if settings.has_questions:
        yield from delegation(settings)
    # 3. Our Pods.
    yield service(settings)
    if settings.needs_serving and settings.cert_manager:
        yield from certificates(settings)
    yield from workload(settings)
    if settings.network_policy:
        yield network_policy(settings)
    if settings.console:
        yield from console(settings)
    yield from companions(settings)
    if settings.monitoring:
        yield from monitoring(settings)
    # 4. What the API server asks, itself or us.
    if settings.policies:
        yield from policies(settings)
    yield from called


def _called_by_server(settings: HomeSettings) -> Iterator[JsonObject]:
    """What makes the API server call our Pods. The certificate is put there when there is one: by our Pods or by
    cert-manager. Whoever applies the objects again leaves it alone, because it says nothing of it."""
    if settings.has_webhooks:
        yield from webhook_configurations(settings)
    if settings.has_questions:
        yield from api_service(settings)
