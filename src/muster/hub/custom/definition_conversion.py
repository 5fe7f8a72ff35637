"""What a CustomResourceDefinition may say of converting objects between its versions: by nobody, or by a webhook.

Called by `definition`. The hub itself asks no webhook; what is said of one is checked as a Kubernetes server does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.causes import Cause, forbidden, invalid, not_supported, required
from muster.values.formats import dns_1035_label_problems
from muster.values.urls import InvalidUrlError, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.custom_resource_definition import DefinitionConversion, WebhookClient

_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_PORTS: Final = range(1, 65536)


def conversion_causes(conversion: DefinitionConversion | None, path: str) -> Iterator[Cause]:
    if conversion is None:
        return
    strategy = conversion.strategy
    yield from one_of(f"{path}.strategy", strategy, ("None", "Webhook"))
    client, versions = conversion.webhook.client_config, conversion.webhook.conversion_review_versions
    if strategy != "Webhook":
        detail = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(f"{path}.webhookClientConfig", detail)
        if versions:
            yield forbidden(f"{path}.conversionReviewVersions", detail)
        return
    if client is None:
        yield required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
    else:
        yield from _client(client, f"{path}.webhookClientConfig")
    yield from _review_versions(versions, f"{path}.conversionReviewVersions")


def one_of(path: str, value: str, accepted: tuple[str, ...]) -> Iterator[Cause]:
    """A word that must be there, and be one of these."""
    if not value:
        yield required(path)
    elif value not in accepted:
        yield not_supported(path, value, accepted)


def _client(client: WebhookClient, path: str) -> Iterator[Cause]:
    url, service = client.url, client.service
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(url, f"{path}.url")
    elif service is not None:
        for name, value in (("name", service.name), ("namespace", service.namespace)):
            if not value:
                yield required(f"{path}.service.{name}", f"service {name} is required")
        if service.port not in _PORTS:
            detail = "port is not valid: must be between 1 and 65535, inclusive"
            yield invalid(f"{path}.service.port", service.port, detail)


def _url(url: str, path: str) -> Iterator[Cause]:
    form = "desired format: https://host[/path]"
    try:
        parsed = parse_url(url)
    except InvalidUrlError as error:
        yield required(path, f"url must be a valid URL: {error}; {form}")
        return
    if parsed.scheme != "https":
        yield invalid(path, parsed.scheme, f"'https' is the only allowed URL scheme; {form}")
    if not parsed.host:
        yield invalid(path, parsed.host, f"host must be specified; {form}")


def _review_versions(versions: Sequence[str], path: str) -> Iterator[Cause]:
    if not versions:
        yield required(path)
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        seen.add(version)
        yield from (invalid(f"{path}[{index}]", version, problem) for problem in dns_1035_label_problems(version))
    if not seen.intersection(_REVIEW_VERSIONS):
        yield invalid(path, list(versions), f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")
