"""The selectors over objects with purposes as types that others put into their own: identity, labels, purposes, and all
four combinations.

    >>> from muster.selectors import IdentityLabelPurposeSelector
    >>> wanted = IdentityLabelPurposeSelector.of({"matchPurposes": [{"operator": "ContainsAny", "values": ["mcp"]}]})
    >>> wanted.matches({"metadata": {"name": "a", "namespace": "b"}, "spec": {"purposes": ["mcp", "platform"]}})
    True

Each is a struct of msgspec, so that a field of this type is read and written by msgspec, in dataclasses too; pydantic
takes it as it takes its own models. A list that is not there and an empty one are different, and stay different in
every form. Matching and its reasons are of `purposes`; nothing here decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Self

import msgspec

from muster.api.struct_schemas import schema_of
from muster.errors import InvalidObjectError
from muster.selectors.purposes import (
    FIELDS,
    OPERATORS,
    purposed_selector,
    purposed_selector_causes,
    purposes_of,
    type_fault,
)
from muster.values.causes import TYPE_INVALID, Cause, sentence
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from muster.selectors.match import Match
    from muster.selectors.purposes import PurposedSelector

_LABEL_OPERATORS: Final = ["In", "NotIn", "Exists", "DoesNotExist"]
_KEPT: Final = 1024  # selectors that stay compiled


class ObjectIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """One object, by name and namespace."""

    name: str = ""
    namespace: str = ""


class LabelExpression(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A condition on one label: In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class PurposeExpression(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A condition on all purposes: ContainsAll, ContainsAny, ContainsNone or Equals."""

    operator: str
    values: tuple[str, ...] | None = None


class EmbeddedSelector(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the seven types have in common. A type may be inherited from: fields of the heir's own are not looked at."""

    type_name: ClassVar[str]

    @classmethod
    def of(cls, document: JsonMapping | None, path: str = "selector") -> Self:
        """Read what users write. Raises InvalidObjectError with everything that is wrong, each with its field path."""
        if document is None:
            return cls()
        if not isinstance(document, Mapping):
            raise InvalidObjectError("", f"{path}: a selector has fields, this is {type(document).__name__}")
        if causes := purposed_selector_causes(cls.type_name, document, path):
            raise InvalidObjectError("", sentence(causes))
        try:
            return msgspec.convert(dict(document), cls)
        except msgspec.ValidationError as error:
            raise InvalidObjectError("", str(type_fault(error, path))) from None

    def document(self) -> JsonObject:
        """The selector as users write it: fields that are not there are left out, empty ones stay.

        Raises InvalidObjectError where a field holds what JSON has not.
        """
        try:
            written: JsonObject = msgspec.json.decode(msgspec.json.encode(self))
        except (TypeError, ValueError) as error:  # nobody looks at what a struct is made of
            raise InvalidObjectError("selector", f"a field holds what JSON has not: {error}") from None
        return {field: written[field] for field in FIELDS[self.type_name] if written.get(field) is not None}

    def empty(self) -> bool:
        """It restricts nothing: every object matches. A selector that is not valid is not empty."""
        try:
            written = self.document()
        except InvalidObjectError:
            return False
        return "matchIdentities" not in written and not any(written.values())

    def matches(self, obj: object) -> bool:
        """Whether an object fits: anything with name, namespace, labels and purposes, or an object of Kubernetes.

        A selector that is not valid matches nothing.
        """
        try:
            return bool(self.match(obj))
        except InvalidObjectError:
            if self.faults():
                return False
            raise

    def match(self, obj: object) -> Match:
        """The same with the reason. Raises InvalidObjectError for a selector that is not valid."""
        return self._compiled().match(_as_object(obj))

    def validate(self, path: str = "selector") -> None:
        """Raise InvalidObjectError with everything that is wrong, each with its field path."""
        if causes := self.faults(path):
            raise InvalidObjectError("", sentence(causes))

    def faults(self, path: str = "selector") -> list[Cause]:
        """Everything that is wrong."""
        try:
            document = self.document()
        except InvalidObjectError as error:
            return [Cause(TYPE_INVALID, path, f"Invalid value: {error.reason}")]
        return purposed_selector_causes(self.type_name, document, path)

    def _compiled(self) -> PurposedSelector:
        return _compile(self.type_name, msgspec.json.encode(self.document()))

    # ---------------------------------------------------------------------------------------------------- schemas

    @classmethod
    def crd_schema(cls) -> Schema:
        """The part of a CustomResourceDefinition's schema for a field of this type."""
        schema = schema_of(_TYPES[cls.type_name])
        for field, found in schema["properties"].items():
            if field == "matchIdentities":
                found["items"]["required"] = ["name", "namespace"]
            elif field == "matchExpressions":
                found["items"]["properties"]["operator"]["enum"] = _LABEL_OPERATORS
            elif field == "matchPurposes":
                found["items"]["properties"]["operator"]["enum"] = list(OPERATORS)
        return schema

    @classmethod
    def json_schema(cls) -> Schema:
        """The same as a JSON Schema."""
        return _as_json_schema(cls.crd_schema())

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Json:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls._for_pydantic,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.document),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, _core: object, _handler: object) -> Schema:
        return cls.json_schema()

    @classmethod
    def _for_pydantic(cls, given: Json) -> Self:
        if isinstance(given, cls):
            return given
        try:
            return cls.of(given)
        except InvalidObjectError as error:
            raise ValueError(str(error)) from None


class IdentitySelector(EmbeddedSelector, frozen=True):
    """Exactly the objects that are listed. No list matches every object, an empty list matches none."""

    type_name: ClassVar[str] = "IdentitySelector"
    match_identities: tuple[ObjectIdentity, ...] | None = None


class LabelSelector(EmbeddedSelector, frozen=True):
    """Objects by their labels, as everywhere in Kubernetes."""

    type_name: ClassVar[str] = "LabelSelector"
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelExpression, ...] | None = None


class PurposeSelector(EmbeddedSelector, frozen=True):
    """Objects by their purposes; every condition must hold."""

    type_name: ClassVar[str] = "PurposeSelector"
    match_purposes: tuple[PurposeExpression, ...] | None = None


class IdentityLabelSelector(EmbeddedSelector, frozen=True):
    """The objects that are listed if there is a list, else by labels."""

    type_name: ClassVar[str] = "IdentityLabelSelector"
    match_identities: tuple[ObjectIdentity, ...] | None = None
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelExpression, ...] | None = None


class IdentityPurposeSelector(EmbeddedSelector, frozen=True):
    """The objects that are listed if there is a list, else by purposes."""

    type_name: ClassVar[str] = "IdentityPurposeSelector"
    match_identities: tuple[ObjectIdentity, ...] | None = None
    match_purposes: tuple[PurposeExpression, ...] | None = None


class LabelPurposeSelector(EmbeddedSelector, frozen=True):
    """Objects by labels and by purposes; both must hold."""

    type_name: ClassVar[str] = "LabelPurposeSelector"
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelExpression, ...] | None = None
    match_purposes: tuple[PurposeExpression, ...] | None = None


class IdentityLabelPurposeSelector(EmbeddedSelector, frozen=True):
    """The objects that are listed if there is a list, else by labels and by purposes."""

    type_name: ClassVar[str] = "IdentityLabelPurposeSelector"
    match_identities: tuple[ObjectIdentity, ...] | None = None
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelExpression, ...] | None = None
    match_purposes: tuple[PurposeExpression, ...] | None = None


_TYPES: Final[Mapping[str, type[EmbeddedSelector]]] = {
    each.type_name: each
    for each in (
        IdentitySelector,
        LabelSelector,
        PurposeSelector,
        IdentityLabelSelector,
        IdentityPurposeSelector,
        LabelPurposeSelector,
        IdentityLabelPurposeSelector,
    )
}


@lru_cache(_KEPT)
def _compile(type_name: str, document: bytes) -> PurposedSelector:
    return purposed_selector(type_name, msgspec.json.decode(document))


def _as_json_schema(schema: Schema) -> Schema:
    """Without the words that only Kubernetes knows."""
    plain: Schema = {key: value for key, value in schema.items() if key != "nullable" and not key.startswith("x-")}
    if schema.get("nullable"):
        plain["type"] = [schema["type"], "null"]
    if plain.get("format") == "int64":
        del plain["format"]
    if "properties" in plain:
        plain["properties"] = {name: _as_json_schema(each) for name, each in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = _as_json_schema(plain["items"])
    return plain


# ------------------------------------------------------------------------------------------------- what is looked at


def _as_object(obj: object) -> JsonMapping:
    """Whatever is given, as an object of Kubernetes. Raises InvalidObjectError for what has no name at all."""
    if isinstance(obj, Mapping):
        return obj if "metadata" in obj else _flat(obj.get("name"), obj.get("namespace"), obj.get("labels"), obj)
    metadata = getattr(obj, "metadata", obj)
    if isinstance(metadata, Mapping):
        name, namespace, labels = (metadata.get(each) for each in ("name", "namespace", "labels"))
    else:
        name, namespace, labels = (getattr(metadata, each, None) for each in ("name", "namespace", "labels"))
    if name is None and metadata is obj:
        raise InvalidObjectError("", f"{type(obj).__name__}: a selector looks at name, namespace, labels and purposes")
    return _flat(name, namespace, labels, obj)


def _flat(name: object, namespace: object, labels: object, obj: object) -> JsonObject:
    return {
        "metadata": {
            "name": name if isinstance(name, str) else "",
            "namespace": namespace if isinstance(namespace, str) else "",
            "labels": dict(labels) if isinstance(labels, Mapping) else {},
        },
        "spec": {"purposes": list(_purposes(obj))},
    }


def _purposes(obj: object) -> Sequence[str]:
    found = obj.get("purposes") if isinstance(obj, Mapping) else getattr(obj, "purposes", None)
    if found is None:
        spec = obj.get("spec") if isinstance(obj, Mapping) else getattr(obj, "spec", None)
        if isinstance(spec, Mapping):
            kind = obj.get("kind") if isinstance(obj, Mapping) else getattr(obj, "kind", None)
            return sorted(purposes_of({"kind": kind if isinstance(kind, str) else "", "spec": spec}))
        found = getattr(spec, "purposes", None)
        if found is None and isinstance(one := getattr(spec, "purpose", None), str):
            found = [one]
    if isinstance(found, str) or not isinstance(found, Iterable):
        return ()
    return [each for each in found if isinstance(each, str)]
