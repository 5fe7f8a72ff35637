"""What the API server is told of our webhooks and questions: webhook configurations, conversion, APIService. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.kubernetes.settings import NAME
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.kubernetes.settings import HomeSettings


def webhook_configurations(settings: HomeSettings, ca_bundle: bytes = b"") -> list[JsonObject]:  # noqa: ARG001 - the shape that manifests call
    """The webhook configurations."""
    return []


def conversion(settings: HomeSettings, ca_bundle: bytes = b"") -> JsonObject:  # noqa: ARG001 - the shape that manifests call
    """`spec.conversion` of the definition of a kind that is served in several versions."""
    service: JsonObject = {"namespace": settings.namespace, "name": NAME, "path": "/convert", "port": 443}
    webhook: JsonObject = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
    return {"strategy": "Webhook", "webhook": webhook}


def api_service(settings: HomeSettings, ca_bundle: bytes = b"") -> list[JsonObject]:  # noqa: ARG001 - the shape that manifests call
    """The APIService of the questions."""
    return []
