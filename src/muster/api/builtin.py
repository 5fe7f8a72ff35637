"""What the built-in kinds share: their columns, and how a Resource of theirs is declared.

Built-in kinds are those a Kubernetes server has without CustomResourceDefinitions. kubectl and controllers need a few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.ages import age
from muster.api.resource import BUILTIN_VERBS, PrinterColumn, Resource, Version
from muster.api.table import CREATION_DESCRIPTION
from muster.values.json import JsonMapping, JsonObject, Schema
from muster.values.names import subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from muster.api.resource import Composition, Conversion, Family, NameCheck, Normalization, Rules, Selectable


def _age(obj: JsonObject, now: datetime) -> object:
    return age(obj.get("metadata", {}).get("creationTimestamp"), now)


def _created(obj: JsonObject, _: datetime) -> object:
    return obj.get("metadata", {}).get("creationTimestamp")


AGE: Final = PrinterColumn("Age", "string", description="How long the object has existed.", cell=_age)
CREATED_AT: Final = PrinterColumn("Created At", "date", description=CREATION_DESCRIPTION, cell=_created)


def builtin(
    kind: str,
    plural: str,
    schema: Schema,
    columns: tuple[PrinterColumn, ...],
    *,
    group: str = "",
    namespaced: bool = True,
    short_names: tuple[str, ...] = (),
    categories: tuple[str, ...] = (),
    status: bool = False,
    verbs: tuple[str, ...] = BUILTIN_VERBS,
    virtual: bool = False,
    rules: Rules | None = None,
    normalize: Normalization | None = None,
    name_problems: NameCheck = subdomain_problems,
    selectable_fields: tuple[str, ...] = (),
    selectable: Selectable | None = None,
    zero: JsonMapping | None = None,
    convert: Conversion | None = None,
    family: Family | None = None,
    parts: tuple[str, ...] = (),
    compose: Composition | None = None,
    reset: Mapping[str, JsonMapping] | None = None,
    part_rules: Mapping[str, Rules] | None = None,
) -> Resource:
    """A built-in kind in version v1. Their metadata carries no generation."""
    return Resource(
        group=group,
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=namespaced,
        versions=(
            Version(
                "v1",
                schema,
                columns,
                status=status,
                selectable_fields=selectable_fields,
                zero_items=True,
                zero=zero or {},
                selectable=selectable,
                parts=parts,
            ),
        ),
        short_names=short_names,
        categories=categories,
        builtin=True,
        virtual=virtual,
        generation=False,
        verbs=verbs,
        rules=rules,
        normalize=normalize,
        name_problems=name_problems,
        convert=convert,
        family=family,
        compose=compose,
        reset=reset or {},
        part_rules=part_rules or {},
    )
