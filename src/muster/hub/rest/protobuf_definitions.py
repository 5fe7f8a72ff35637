"""The protobuf field numbers of CustomResourceDefinition, whose schemas contain schemas. Data for `protobuf_kinds`."""

from __future__ import annotations

from muster.hub.rest.protobuf import Field, Message, Scalar
from muster.values.json import Json, JsonObject

_S, _I, _B, _D, _J = Scalar.STRING, Scalar.INTEGER, Scalar.BOOLEAN, Scalar.DOUBLE, Scalar.RAW_JSON


def _or_list(value: JsonObject) -> Json:
    return value["several"] if "several" in value else value.get("schema", {})


def _or_flag(value: JsonObject) -> Json:
    return value["schema"] if "schema" in value else value.get("allows", False)


def _or_texts(value: JsonObject) -> Json:
    return value["property"] if "property" in value else value.get("schema", {})


def _from_list(value: Json) -> JsonObject:
    return {"several": value} if isinstance(value, list) else {"schema": value}


def _from_flag(value: Json) -> JsonObject:
    return {"allows": value} if isinstance(value, bool) else {"allows": True, "schema": value}


def _from_texts(value: Json) -> JsonObject:
    return {"property": value} if isinstance(value, list) else {"schema": value}


_SCHEMA = Message()
_ONE_OR_LIST = Message({1: Field("schema", _SCHEMA, pointer=True), 2: Field("several", _SCHEMA, repeated=True)})
_ONE_OR_FLAG = Message({1: Field("allows", _B), 2: Field("schema", _SCHEMA, pointer=True)})
_ONE_OR_TEXTS = Message({1: Field("schema", _SCHEMA, pointer=True), 2: Field("property", _S, repeated=True)})
_RULE = Message(
    {
        1: Field("rule", _S),
        2: Field("message", _S),
        3: Field("messageExpression", _S),
        4: Field("reason", _S, pointer=True),
        5: Field("fieldPath", _S),
        6: Field("optionalOldSelf", _B, pointer=True),
    }
)
_SCHEMA.update(
    {
        1: Field("id", _S),
        2: Field("$schema", _S),
        3: Field("$ref", _S, pointer=True),
        4: Field("description", _S),
        5: Field("type", _S),
        6: Field("format", _S),
        7: Field("title", _S),
        8: Field("default", _J, pointer=True),
        9: Field("maximum", _D, pointer=True),
        10: Field("exclusiveMaximum", _B),
        11: Field("minimum", _D, pointer=True),
        12: Field("exclusiveMinimum", _B),
        13: Field("maxLength", _I, pointer=True),
        14: Field("minLength", _I, pointer=True),
        15: Field("pattern", _S),
        16: Field("maxItems", _I, pointer=True),
        17: Field("minItems", _I, pointer=True),
        18: Field("uniqueItems", _B),
        19: Field("multipleOf", _D, pointer=True),
        20: Field("enum", _J, repeated=True),
        21: Field("maxProperties", _I, pointer=True),
        22: Field("minProperties", _I, pointer=True),
        23: Field("required", _S, repeated=True),
        24: Field("items", _ONE_OR_LIST, pointer=True, shown=_or_list, told=_from_list),
        25: Field("allOf", _SCHEMA, repeated=True),
        26: Field("oneOf", _SCHEMA, repeated=True),
        27: Field("anyOf", _SCHEMA, repeated=True),
        28: Field("not", _SCHEMA, pointer=True),
        29: Field("properties", _SCHEMA, mapping=True),
        30: Field("additionalProperties", _ONE_OR_FLAG, pointer=True, shown=_or_flag, told=_from_flag),
        31: Field("patternProperties", _SCHEMA, mapping=True),
        32: Field("dependencies", _ONE_OR_TEXTS, mapping=True, shown=_or_texts, told=_from_texts),
        33: Field("additionalItems", _ONE_OR_FLAG, pointer=True, shown=_or_flag, told=_from_flag),
        34: Field("definitions", _SCHEMA, mapping=True),
        35: Field("externalDocs", Message({1: Field("description", _S), 2: Field("url", _S)}), pointer=True),
        36: Field("example", _J, pointer=True),
        37: Field("nullable", _B),
        38: Field("x-kubernetes-preserve-unknown-fields", _B, pointer=True),
        39: Field("x-kubernetes-embedded-resource", _B),
        40: Field("x-kubernetes-int-or-string", _B),
        41: Field("x-kubernetes-list-map-keys", _S, repeated=True),
        42: Field("x-kubernetes-list-type", _S, pointer=True),
        43: Field("x-kubernetes-map-type", _S, pointer=True),
        44: Field("x-kubernetes-validations", _RULE, repeated=True),
    }
)
_NAMES = Message(
    {
        1: Field("plural", _S),
        2: Field("singular", _S),
        3: Field("shortNames", _S, repeated=True),
        4: Field("kind", _S),
        5: Field("listKind", _S),
        6: Field("categories", _S, repeated=True),
    }
)
_COLUMN = Message(
    {
        1: Field("name", _S),
        2: Field("type", _S),
        3: Field("format", _S),
        4: Field("description", _S),
        5: Field("priority", _I),
        6: Field("jsonPath", _S),
    }
)
_SCALE = Message(
    {
        1: Field("specReplicasPath", _S),
        2: Field("statusReplicasPath", _S),
        3: Field("labelSelectorPath", _S, pointer=True),
    }
)
_VERSION = Message(
    {
        1: Field("name", _S),
        2: Field("served", _B, pointer=True),
        3: Field("storage", _B, pointer=True),
        4: Field("schema", Message({1: Field("openAPIV3Schema", _SCHEMA, pointer=True)}), pointer=True),
        5: Field(
            "subresources",
            Message({1: Field("status", Message(), pointer=True), 2: Field("scale", _SCALE, pointer=True)}),
            pointer=True,
        ),
        6: Field("additionalPrinterColumns", _COLUMN, repeated=True),
        7: Field("deprecated", _B),
        8: Field("deprecationWarning", _S, pointer=True),
        9: Field("selectableFields", Message({1: Field("jsonPath", _S)}), repeated=True),
    }
)
_SERVICE = Message(
    {1: Field("namespace", _S), 2: Field("name", _S), 3: Field("path", _S, pointer=True), 4: Field("port", _I)}
)
_CLIENT = Message(
    {
        1: Field("service", _SERVICE, pointer=True),
        2: Field("caBundle", Scalar.BYTES),
        3: Field("url", _S, pointer=True),
    }
)
_WEBHOOK = Message(
    {2: Field("clientConfig", _CLIENT, pointer=True), 3: Field("conversionReviewVersions", _S, repeated=True)}
)
_CONDITION = Message(
    {
        1: Field("type", _S),
        2: Field("status", _S),
        3: Field("lastTransitionTime", Scalar.TIME),
        4: Field("reason", _S),
        5: Field("message", _S),
        6: Field("observedGeneration", _I),
    }
)
SPEC = Message(
    {
        1: Field("group", _S),
        3: Field("names", _NAMES),
        4: Field("scope", _S),
        7: Field("versions", _VERSION, repeated=True),
        9: Field(
            "conversion", Message({1: Field("strategy", _S), 2: Field("webhook", _WEBHOOK, pointer=True)}), pointer=True
        ),
        10: Field("preserveUnknownFields", _B),
    }
)
STATUS = Message(
    {
        1: Field("conditions", _CONDITION, repeated=True),
        2: Field("acceptedNames", _NAMES),
        3: Field("storedVersions", _S, repeated=True),
        4: Field("observedGeneration", _I),
    }
)
