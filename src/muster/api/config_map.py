"""ConfigMap: settings as keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, forbidden, invalid, too_long
from muster.values.names import config_key_problems

if TYPE_CHECKING:
    from datetime import datetime

SIZE_LIMIT: Final = 1024 * 1024


def normalize(obj: dict[str, Any]) -> None:
    """Maps without entries are not kept."""
    for name in ("data", "binaryData"):
        if obj.get(name) == {}:
            del obj[name]


def rules(new: dict[str, Any], old: dict[str, Any] | None) -> list[Cause]:
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    causes: list[Cause] = []
    for key in data:
        causes.extend(invalid(f"data[{key}]", key, problem) for problem in config_key_problems(key))
        if key in binary:
            causes.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        causes.extend(invalid(f"binaryData[{key}]", key, problem) for problem in config_key_problems(key))
    size = sum(len(value.encode("utf-8", "surrogatepass")) for value in data.values())
    size += sum(len(value) * 3 // 4 for value in binary.values())
    if size > SIZE_LIMIT:
        causes.append(too_long("", SIZE_LIMIT))
    if old is not None:
        causes.extend(immutability(new, old, ("data", "binaryData")))
    return causes


def immutability(new: dict[str, Any], old: dict[str, Any], fields: tuple[str, ...]) -> list[Cause]:
    """A ConfigMap or Secret with `immutable: true` stays as it is."""
    if not old.get("immutable"):
        return []
    changed = [] if new.get("immutable") else ["immutable"]
    changed += [name for name in fields if (new.get(name) or {}) != (old.get(name) or {})]
    return [forbidden(name, "field is immutable when `immutable` is set") for name in changed]


def _count(obj: dict[str, Any], _: datetime) -> object:
    return len(obj.get("data") or {}) + len(obj.get("binaryData") or {})


CONFIG_MAP: Final = builtin(
    "ConfigMap",
    "configmaps",
    parts.obj(
        "Settings as keys and values.",
        properties={
            "data": parts.string_map("Values as text."),
            "binaryData": {
                "type": "object",
                "description": "Values as base64.",
                "additionalProperties": parts.string(format="byte"),
            },
            "immutable": parts.boolean("Whether the values can never change."),
        },
    ),
    (PrinterColumn("Data", "string", description="How many values there are.", cell=_count), AGE),
    short_names=("cm",),
    rules=rules,
    normalize=normalize,
)
