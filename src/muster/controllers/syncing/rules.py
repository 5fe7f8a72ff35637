"""Where the hub keeps the rules that make claims: a ConfigMap, whose text is YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.config_map import read_config_map
from muster.errors import ApiError, InvalidObjectError
from muster.importing.rules import KEY, Rules, built_in, extended
from muster.values.api_paths import object_path
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from muster.api.config_map import ConfigMap
    from muster.client import Client
    from muster.values.json import Json

CONFIG_MAP: Final = "muster-sync"
NAMESPACE: Final = "kube-system"
_NOT_FOUND: Final = 404


def rules_in(text: bytes, origin: str) -> Json:
    """The document in a text. Raises InvalidObjectError."""
    try:
        document = read_yaml(text, YamlLimits())
    except YamlError as error:
        raise InvalidObjectError(origin, str(error)) from error
    return None if document is None else document.value


def rules_of(found: ConfigMap | None) -> Rules:
    """The rules of a ConfigMap; whatever is wrong with it, those that are built in."""
    text = "" if found is None else found.data.get(KEY, "")
    if not text:
        return built_in()
    try:
        return extended(rules_in(text.encode("utf-8", "replace"), f"ConfigMap {CONFIG_MAP}, key {KEY}"))
    except InvalidObjectError as error:
        return Rules(built_in().programs, (str(error),))


async def hub_rules(client: Client, namespace: str = NAMESPACE) -> Rules:
    try:
        reply = await client.request("GET", object_path("", "v1", "configmaps", namespace, CONFIG_MAP))
    except ApiError as error:
        if error.code == _NOT_FOUND:
            return built_in()
        return Rules(built_in().programs, (f"ConfigMap {namespace}/{CONFIG_MAP} cannot be read: {error}",))
    return rules_of(read_config_map(reply.json()))
