"""YAML of the editor to objects and back: browsers have no reader for YAML, and ours has limits."""

from __future__ import annotations

import msgspec

from muster.values.json import Json, JsonObject
from muster.values.yaml_reading import YamlError, YamlLimits, read_documents


def objects_of(text: bytes) -> JsonObject:
    """The documents of a text, or what is wrong with it and in which line."""
    try:
        found = [each.value for each in read_documents(text, YamlLimits())]
    except YamlError as error:
        return {"objects": [], "problem": error.problem, "line": error.line, "column": error.column}
    return {"objects": found}


def yaml_of(text: bytes) -> bytes:
    """An object as YAML. Raises msgspec.MsgspecError for what is no JSON."""
    value: Json = msgspec.json.decode(text)
    return msgspec.yaml.encode(value)
