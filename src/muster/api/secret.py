"""Secret: values that not everybody may read, in base64."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.config_map import SIZE_LIMIT, immutability, key_causes
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, invalid, required, too_long
from muster.values.json import JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime


OPAQUE: Final = "Opaque"
#: What a cluster that is about to join shows: `hub.auth.bootstrap_tokens`.
BOOTSTRAP_TOKEN: Final = "bootstrap.kubernetes.io/token"  # noqa: S105 - the name of a type

# Keys that a type of secret must have.
_NEEDED_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def normalize(obj: JsonObject) -> None:
    """`stringData` is for writing only: its values move to `data`. A secret without a type is opaque.

    A map without entries is not kept.
    """
    if not obj.get("type"):
        obj["type"] = OPAQUE
    texts = obj.pop("stringData", None)
    if isinstance(texts, dict) and texts:
        data = obj.get("data")
        merged = dict(data) if isinstance(data, dict) else {}
        for key, text in texts.items():
            merged[key] = base64.b64encode(str(text).encode("utf-8", "surrogatepass")).decode("ascii")
        obj["data"] = merged
    if obj.get("data") == {}:
        del obj["data"]


def rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    data = object_at(new, "data")
    for key in data:
        yield from key_causes("data", key)
    if sum(len(value or "") * 3 // 4 for value in data.values()) > SIZE_LIMIT:
        yield too_long("data", SIZE_LIMIT)
    kind = new.get("type", OPAQUE)
    yield from (required(f"data[{key}]") for key in _NEEDED_KEYS.get(kind, ()) if key not in data)
    if kind == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield from (required("data[username]"), required("data[password]"))
    if old is not None:
        if kind != old.get("type", OPAQUE):
            yield invalid("type", kind, "field is immutable")
        yield from immutability(new, old, ("data",))


def _type(obj: JsonObject, _: datetime) -> object:
    return obj.get("type", OPAQUE)


def _count(obj: JsonObject, _: datetime) -> object:
    return len(object_at(obj, "data"))


SECRET: Final = builtin(
    "Secret",
    "secrets",
    parts.obj(
        "Values that not everybody may read.",
        properties={
            "data": {
                "type": "object",
                "description": "Values as base64.",
                "additionalProperties": parts.string(format="byte"),
            },
            "stringData": parts.string_map("Values as text, for writing only."),
            "type": parts.string("What the secret is for."),
            "immutable": parts.boolean("Whether the values can never change."),
        },
    ),
    (
        PrinterColumn("Type", "string", description="What the secret is for.", cell=_type),
        PrinterColumn("Data", "string", description="How many values there are.", cell=_count),
        AGE,
    ),
    rules=rules,
    normalize=normalize,
    selectable_fields=(".type",),
)
