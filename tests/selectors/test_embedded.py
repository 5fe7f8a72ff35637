"""The selectors as types inside other people's types."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import msgspec
import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from muster.errors import InvalidObjectError
from muster.selectors import (
    EmbeddedSelector,
    IdentityLabelPurposeSelector,
    IdentityLabelSelector,
    IdentityPurposeSelector,
    IdentitySelector,
    LabelExpression,
    LabelPurposeSelector,
    LabelSelector,
    ObjectIdentity,
    PurposeExpression,
    PurposeSelector,
)
from muster.selectors.purposes import FIELDS

TYPES: list[type[EmbeddedSelector]] = [
    IdentitySelector,
    LabelSelector,
    PurposeSelector,
    IdentityLabelSelector,
    IdentityPurposeSelector,
    LabelPurposeSelector,
    IdentityLabelPurposeSelector,
]
OBJECT = {
    "kind": "Cluster",
    "metadata": {"name": "one", "namespace": "here", "labels": {"foo": "bar"}},
    "spec": {"purposes": ["mcp", "platform"]},
}


@dataclass
class Thing:
    name: str = "one"
    namespace: str = "here"
    labels: dict[str, str] = field(default_factory=lambda: {"foo": "bar"})
    purposes: tuple[str, ...] = ("mcp", "platform")


class Metadata:
    name = "one"
    namespace = "here"
    labels = {"foo": "bar"}  # noqa: RUF012 - as client libraries have it


class Spec:
    purposes = ("platform", "mcp")


class Model:
    """As client libraries have it."""

    metadata = Metadata()
    spec = Spec()


FORMS: list[Any] = [
    OBJECT,
    {"name": "one", "namespace": "here", "labels": {"foo": "bar"}, "purposes": ["mcp", "platform"]},
    Thing(),
    Model(),
]


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_restricts_nothing_when_it_says_nothing(kind: type[EmbeddedSelector]) -> None:
    for said in (kind(), kind.of(None), kind.of({})):
        assert said.empty()
        assert all(said.matches(each) for each in FORMS)
        said.validate()


def test_no_identities_match_everything_and_an_empty_list_matches_nothing() -> None:
    for kind in (IdentitySelector, IdentityLabelSelector, IdentityPurposeSelector, IdentityLabelPurposeSelector):
        absent, empty = kind.of({"matchIdentities": None}), kind.of({"matchIdentities": []})
        assert absent.empty()
        assert absent.matches(OBJECT)
        assert not empty.empty()
        assert not empty.matches(OBJECT)


def test_identities_overrule_everything_else() -> None:
    said = IdentityLabelPurposeSelector.of(
        {
            "matchIdentities": [{"name": "one", "namespace": "here"}],
            "matchLabels": {"foo": "another"},
            "matchPurposes": [{"operator": "Equals", "values": ["nothing"]}],
        }
    )
    assert [said.matches(each) for each in FORMS] == [True] * len(FORMS)
    assert not said.matches({"metadata": {"name": "one", "namespace": "elsewhere"}})


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("ContainsAll", ["mcp", "platform"], True),
        ("ContainsAll", ["mcp", "workload"], False),
        ("ContainsAny", ["mcp", "workload"], True),
        ("ContainsAny", ["workload"], False),
        ("ContainsNone", ["workload"], True),
        ("ContainsNone", ["mcp"], False),
        ("Equals", ["platform", "mcp", "mcp"], True),
        ("Equals", ["mcp"], False),
    ],
)
def test_purposes(operator: str, values: list[str], *, fits: bool) -> None:
    said = PurposeSelector((PurposeExpression(operator, tuple(values)),))
    assert [said.matches(each) for each in FORMS] == [fits] * len(FORMS)


def test_labels_and_purposes_must_both_hold() -> None:
    said = LabelPurposeSelector(
        match_labels={"foo": "bar"},
        match_expressions=(LabelExpression("other", "DoesNotExist"),),
        match_purposes=(PurposeExpression("ContainsAny", ("mcp",)),),
    )
    assert said.matches(Thing())
    assert not said.matches(Thing(labels={}))
    assert not said.matches(Thing(labels={"foo": "bar", "other": ""}))
    assert not said.matches(Thing(purposes=()))
    assert "mcp" in said.match(Thing(purposes=())).reason


def test_a_request_has_the_one_purpose() -> None:
    said = PurposeSelector.of({"matchPurposes": [{"operator": "Equals", "values": ["mcp"]}]})
    assert said.matches({"kind": "ClusterRequest", "metadata": {"name": "r"}, "spec": {"purpose": "mcp"}})


@pytest.mark.parametrize(
    ("kind", "document", "words"),
    [
        (PurposeSelector, {"matchPurposes": [{"operator": "Has", "values": []}]}, "selector.matchPurposes[0].operator"),
        (LabelSelector, {"matchExpressions": [{"key": "a", "operator": "In"}]}, "selector.matchExpressions[0]"),
        (LabelSelector, {"matchLabels": {"-": "b"}}, "selector.matchLabels"),
        (LabelSelector, {"matchPurposes": []}, "LabelSelector has no such field"),
        (IdentitySelector, {"matchIdentities": "one"}, "selector.matchIdentities"),
        (IdentitySelector, {"matchIdentities": [{"name": 3}]}, "selector.matchIdentities[0].name"),
        (IdentitySelector, [], "a selector has fields"),
    ],
)
def test_what_is_wrong_is_our_error_with_a_path(kind: type[EmbeddedSelector], document: Any, words: str) -> None:
    with pytest.raises(InvalidObjectError, match=words.replace("[", r"\[")):
        kind.of(document)


def test_one_that_is_not_valid_says_so_and_matches_nothing() -> None:
    said = PurposeSelector((PurposeExpression("Has", ("mcp",)),))
    assert not said.matches(Thing())
    assert not said.empty()
    with pytest.raises(InvalidObjectError, match="ContainsAll"):
        said.validate()


def test_what_has_no_name_is_refused() -> None:
    with pytest.raises(InvalidObjectError, match="name, namespace, labels and purposes"):
        LabelSelector({"a": "b"}).matches(3)


# ------------------------------------------------------------------------------------------------ inside other types


@dataclass
class Configuration:
    clusters: IdentityLabelPurposeSelector
    replicas: int = 1


class Inline(IdentityLabelSelector, frozen=True):
    replicas: int = 1


class Validated(pydantic.BaseModel):
    clusters: IdentityLabelPurposeSelector
    others: IdentitySelector | None = None


DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"matchIdentities": []},
    {"matchIdentities": [{"name": "a", "namespace": "b"}]},
    {"matchLabels": {}, "matchExpressions": [], "matchPurposes": []},
    {"matchLabels": {"foo": "bar"}, "matchPurposes": [{"operator": "ContainsAny", "values": ["mcp"]}]},
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_null_and_empty_stay_apart_in_every_encoding(document: dict[str, Any]) -> None:
    said = IdentityLabelPurposeSelector.of(document)
    assert said.document() == document
    assert msgspec.json.decode(msgspec.json.encode(said), type=IdentityLabelPurposeSelector) == said
    assert msgspec.yaml.decode(msgspec.yaml.encode(said), type=IdentityLabelPurposeSelector) == said
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(said), type=IdentityLabelPurposeSelector) == said
    assert IdentityLabelPurposeSelector.of(yaml.safe_load(yaml.safe_dump(said.document()))) == said
    for made in (pickle.loads(pickle.dumps(said)), copy.copy(said), copy.deepcopy(said)):
        assert (made, made.document()) == (said, said.document())
    configured = msgspec.convert({"clusters": document, "replicas": 2}, Configuration)
    assert configured.clusters == said
    assert msgspec.json.decode(msgspec.json.encode(configured)) == {"clusters": document, "replicas": 2}
    model = Validated.model_validate({"clusters": document})
    assert model.clusters == said
    assert Validated.model_validate_json(model.model_dump_json()) == model
    assert model.model_dump() == {"clusters": document, "others": None}


def test_fields_of_an_heir_are_beside_the_selectors() -> None:
    said = msgspec.convert({"replicas": 3, "matchLabels": {"foo": "bar"}}, Inline)
    assert said.matches(OBJECT)
    assert not said.matches({"metadata": {"name": "two"}})
    assert said.document() == {"matchLabels": {"foo": "bar"}}
    assert msgspec.json.decode(msgspec.json.encode(said)) == {"replicas": 3, "matchLabels": {"foo": "bar"}}


def test_pydantic_tells_what_is_wrong_in_our_words() -> None:
    with pytest.raises(pydantic.ValidationError, match=r"matchPurposes\[0\].operator: Unsupported value"):
        Validated.model_validate({"clusters": {"matchPurposes": [{"operator": "Has"}]}})
    assert Validated.model_json_schema()["properties"]["clusters"]["properties"].keys() == {
        "matchIdentities",
        "matchLabels",
        "matchExpressions",
        "matchPurposes",
    }


# ----------------------------------------------------------------------------------------------------------- schemas

_WORDS = st.sampled_from(["", "a", "b", "In", "Exists", "Equals", "ContainsAny", "Has"])
_LISTS = st.none() | st.lists(_WORDS, max_size=2)
_SPECS = st.fixed_dictionaries(
    {},
    optional={
        "matchIdentities": st.none() | st.lists(st.fixed_dictionaries({"name": _WORDS, "namespace": _WORDS})),
        "matchLabels": st.none() | st.dictionaries(_WORDS, _WORDS, max_size=2),
        "matchExpressions": st.none()
        | st.lists(st.fixed_dictionaries({"key": _WORDS, "operator": _WORDS}, optional={"values": _LISTS}), max_size=2),
        "matchPurposes": st.none()
        | st.lists(st.fixed_dictionaries({"operator": _WORDS}, optional={"values": _LISTS}), max_size=2),
    },
)


@given(_SPECS)
def test_whatever_is_valid_fits_the_schema_and_matching_never_fails(document: dict[str, Any]) -> None:
    kind = IdentityLabelPurposeSelector
    try:
        said = kind.of(document)
    except InvalidObjectError:
        assert not msgspec.convert(document, kind).matches(OBJECT) or "matchIdentities" in document
        return
    jsonschema_rs.validate(kind.json_schema(), document)
    assert said.empty() == (
        document.get("matchIdentities") is None
        and not any(document.get(each) for each in ("matchLabels", "matchExpressions", "matchPurposes"))
    )
    said.matches(OBJECT)


@pytest.mark.parametrize("kind", TYPES)
def test_the_schema_is_a_part_of_a_crd(kind: type[EmbeddedSelector]) -> None:
    schema = kind.crd_schema()
    assert schema["type"] == "object"
    assert list(schema["properties"]) == list(FIELDS[kind.type_name])
    assert all(each["nullable"] for each in schema["properties"].values())
    assert "$ref" not in str(schema)
    assert ObjectIdentity.__name__ not in str(schema)
