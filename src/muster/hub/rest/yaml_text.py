"""YAML request bodies and answers, read as Kubernetes reads YAML: plain data, bounded, with text dates.

Called by `bodies` and `answers`. `values.yaml_reading` reads; this module says how a hub refuses.
"""

from __future__ import annotations

import yaml

from muster.hub import status
from muster.hub.requests import MalformedBodyError
from muster.hub.rest.limits import MAX_DEPTH, MAX_YAML_NODES
from muster.values.json import Json
from muster.values.yaml_reading import YamlError, YamlLimitError, YamlLimits, read_yaml

_LIMITS = YamlLimits(MAX_DEPTH, MAX_YAML_NODES, 3 * 1024 * 1024)


def decode_yaml(text: bytes) -> tuple[Json, tuple[str, ...]]:
    """The value and what a strict reader says of duplicate keys. Raises MalformedBodyError, StatusError for a limit."""
    try:
        document = read_yaml(text, _LIMITS)
    except YamlLimitError as error:
        raise status.bad_request(f"yaml: {error}") from None
    except YamlError as error:
        raise MalformedBodyError(f"yaml: {error}") from None
    return (None, ()) if document is None else (document.value, document.duplicates)


def encode_yaml(value: Json) -> bytes:
    """A value as YAML in block style, keys sorted."""
    text: bytes = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
        encoding="utf-8",
        width=1 << 30,
    )
    return text


class _Dumper(yaml.CSafeDumper):
    """Writes every occurrence in full: answers have no anchors."""

    def ignore_aliases(self, data: Json) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True
