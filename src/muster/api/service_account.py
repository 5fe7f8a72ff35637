"""ServiceAccount: a name for programs to act under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.resource import PrinterColumn
from muster.values.json import JsonObject
from muster.values.json_members import list_at

if TYPE_CHECKING:
    from datetime import datetime


def _secrets(obj: JsonObject, _: datetime) -> object:
    return len(list_at(obj, "secrets"))


_OBJECT_REFERENCE = parts.obj(
    "Another object.",
    properties={
        name: parts.string()
        for name in ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")
    },
)

SERVICE_ACCOUNT: Final = builtin(
    "ServiceAccount",
    "serviceaccounts",
    parts.obj(
        "A name for programs to act under.",
        properties={
            "secrets": parts.map_list(_OBJECT_REFERENCE, ("name",), "Secrets it may use."),
            "imagePullSecrets": parts.array(
                parts.obj("A secret.", properties={"name": parts.string()}), "Secrets for pulling images."
            ),
            "automountServiceAccountToken": parts.boolean("Whether programs get its token."),
        },
    ),
    (PrinterColumn("Secrets", "string", description="How many secrets it may use.", cell=_secrets), AGE),
    short_names=("sa",),
)
