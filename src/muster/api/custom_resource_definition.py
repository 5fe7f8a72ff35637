"""What can be read of a CustomResourceDefinition: the struct that checks, names and kinds are made from.

The kind itself is in `crds`. Schemas stay JSON here: `hub.custom` cleans, judges and compiles them. A part that is None
was not said, which some rules tell from one that is empty.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.values.json import Json, JsonMapping

HTTPS: Final = 443


class DefinitionNames(Part, frozen=True):
    plural: str = ""
    singular: str = ""
    kind: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class DefinitionSchema(Node, frozen=True):
    openapi: Json = msgspec.field(default=None, name="openAPIV3Schema")


class DefinitionScale(Part, frozen=True):
    """Where a version has what its scale subresource shows."""

    spec_replicas_path: str = ""
    status_replicas_path: str = ""
    label_selector_path: str = ""


class DefinitionSubresources(Node, frozen=True):
    status: Json = None
    scale: DefinitionScale | None = None


class DefinitionColumn(Part, frozen=True):
    name: str = ""
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0
    json_path: str = ""


class SelectableField(Part, frozen=True):
    json_path: str = ""


class DefinitionVersion(Node, frozen=True):
    name: str = ""
    served: bool = False
    storage: bool = False
    deprecated: bool = False
    deprecation_warning: str | None = None
    schema: DefinitionSchema = DefinitionSchema()
    subresources: DefinitionSubresources = DefinitionSubresources()
    additional_printer_columns: tuple[DefinitionColumn, ...] = ()
    selectable_fields: tuple[SelectableField, ...] = ()

    @property
    def has_status(self) -> bool:
        return self.subresources.status is not None


class WebhookService(Part, frozen=True):
    name: str = ""
    namespace: str = ""
    port: int = HTTPS


class WebhookClient(Node, frozen=True):
    url: str | None = None
    service: WebhookService | None = None


class ConversionWebhook(Node, frozen=True):
    client_config: WebhookClient | None = None
    conversion_review_versions: tuple[str, ...] = ()


class DefinitionConversion(Node, frozen=True):
    strategy: str = ""
    webhook: ConversionWebhook = ConversionWebhook()


class DefinitionSpec(Node, frozen=True):
    group: str = ""
    scope: str = ""
    names: DefinitionNames = DefinitionNames()
    versions: tuple[DefinitionVersion, ...] = ()
    conversion: DefinitionConversion | None = None
    preserve_unknown_fields: bool = False


class DefinitionStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    accepted_names: DefinitionNames = DefinitionNames()
    stored_versions: tuple[str, ...] = ()


class Definition(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()

    def is_true(self, kind: str) -> bool:
        """Whether it says so in a condition."""
        return any(each.type == kind and each.status == "True" for each in self.status.conditions)


_READER: Final = Reader(Definition)


def read_definition(obj: JsonMapping) -> Definition:
    return _READER.of(obj)
