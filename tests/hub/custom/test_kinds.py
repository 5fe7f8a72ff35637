"""Applying a definition makes the hub serve the kind, at once and everywhere."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.hub.custom.a_kind import (
    DEFINITIONS,
    GROUP,
    MERGE,
    TABLE,
    Shop,
    definition,
    fields,
    path,
    schema,
    shop,
    toy,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


COLOUR = schema(fields(colour={"type": "string"}, count={"type": "integer"}))


def test_a_kind_is_served_as_soon_as_its_definition_is_answered(hub: Shop) -> None:
    answer = hub.define(definition(COLOUR, names={"shortNames": ["ty"], "categories": ["all"]}))
    assert answer["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    assert hub.condition("Established") == ("True", "InitialNamesAccepted")
    assert hub.condition("NamesAccepted") == ("True", "NoConflicts")
    assert hub.create("a", {"colour": "red"})["spec"] == {"colour": "red"}
    (listed,) = hub.send("GET", f"/apis/{GROUP}/v1")["resources"]
    assert (listed["name"], listed["singularName"], listed["shortNames"], listed["categories"]) == (
        "toys",
        "toy",
        ["ty"],
        ["all"],
    )
    aggregated = hub.send("GET", "/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
    assert GROUP in str(aggregated)
    document = hub.send("GET", f"/openapi/v3/apis/{GROUP}/v1")
    assert "colour" in document["components"]["schemas"]["com.example.shop.v1.Toy"]["properties"]["spec"]["properties"]
    assert f"apis/{GROUP}/v1" in str(hub.send("GET", "/openapi/v3"))


def test_openapi_2_does_not_list_fields_where_others_are_kept_or_null_is_allowed(hub: Shop) -> None:
    keeps = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    some = {
        "type": "object",
        "required": ["maybe", "kept"],
        "properties": {
            "maybe": {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}},
            "kept": {**keeps, "properties": {"a": {"type": "string"}}},
        },
    }
    hub.define(definition(schema(some)))
    hub.define(definition(schema(some) | keeps, plural="games", kind="Game"))
    published = hub.send("GET", "/openapi/v2", Accept="application/json")["definitions"]
    spec = published["com.example.shop.v1.Toy"]["properties"]["spec"]
    assert spec["properties"] == {"maybe": {}, "kept": {"x-kubernetes-preserve-unknown-fields": True}}
    assert spec["required"] == ["kept"]
    game = published["com.example.shop.v1.Game"]
    assert game == {"type": "object", "x-kubernetes-group-version-kind": game["x-kubernetes-group-version-kind"]}


def test_explain_finds_the_words_that_clients_look_for(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    schemas = hub.send("GET", f"/openapi/v3/apis/{GROUP}/v1")["components"]["schemas"]
    told = schemas["com.example.shop.v1.Toy"]["properties"]
    assert told["apiVersion"]["description"].startswith("APIVersion defines ")
    assert told["metadata"]["description"].startswith("Standard object's metadata")
    created = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]["properties"]["creationTimestamp"]
    assert created["description"].startswith("CreationTimestamp is a timestamp")


def test_a_changed_definition_is_in_force_as_soon_as_it_is_answered(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    before = hub.send("GET", f"/openapi/v3/apis/{GROUP}/v1")
    hub.redefine({"spec": {"versions": [version(of=schema(fields(size={"type": "integer"})))]}})
    assert hub.create("a", {"size": 1, "colour": "red"})["spec"] == {"size": 1}
    assert hub.send("GET", f"/openapi/v3/apis/{GROUP}/v1") != before
    assert hub.definition()["metadata"]["generation"] == 2


def test_what_is_read_is_as_todays_definition_has_it(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    hub.create("a", {"colour": "red", "count": 1})
    hub.redefine(
        {
            "spec": {
                "versions": [
                    version(of=schema(fields(count={"type": "integer"}, size={"type": "string", "default": "m"})))
                ]
            }
        }
    )
    assert hub.get("a")["spec"] == {"count": 1, "size": "m"}
    (item,) = hub.send("GET", path())["items"]
    assert item["spec"] == {"count": 1, "size": "m"}


def test_objects_and_kinds_survive_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "hub.db"
    with shop(path=file) as first:
        first.define(definition(COLOUR))
        first.create("a", {"colour": "red"})
    with shop(path=file) as second:
        assert second.get("a")["spec"] == {"colour": "red"}
        assert second.create("b", {"colour": "blue", "no": 1})["spec"] == {"colour": "blue"}


def test_the_columns_of_a_kind_are_those_of_its_definition(hub: Shop) -> None:
    columns = [
        {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
        {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1, "description": "How many."},
        {"name": "Odd", "type": "string", "jsonPath": ".spec.colour[?(@.a>1)]"},
    ]
    hub.define(definition(COLOUR, additionalPrinterColumns=columns))
    hub.create("a", {"colour": "red", "count": 3})
    table = hub.send("GET", path(), Accept=TABLE)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Colour", "Count", "Odd"]
    assert table["columnDefinitions"][2]["description"] == "How many."
    assert table["rows"][0]["cells"] == ["a", "red", 3, None]


def test_a_kind_without_columns_shows_its_age(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    hub.create("a")
    table = hub.send("GET", path(), Accept=TABLE)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Age"]


def test_columns_show_what_a_server_shows_of_numbers_objects_and_nulls(hub: Shop) -> None:
    kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    paths = {
        "float": ".spec.float",
        "half": ".spec.half",
        "object": ".spec.object",
        "null": ".spec.null",
        "many": ".spec.list[*].n",
        "missing": ".spec.nothing",
        "big": ".spec.list[?(@.n>1)].name",
    }
    columns = [{"name": name, "type": "string", "jsonPath": path} for name, path in paths.items()]
    more = [{"name": "broken", "type": "string", "jsonPath": '.spec["x"]'}, {"name": "late", **columns[0]}]
    hub.define(definition(schema(kept), additionalPrinterColumns=[*columns, *more]))
    listed = [{"n": 1, "name": "one"}, {"n": 2, "name": "two"}]
    hub.create("a", {"float": 1234567.5, "half": 0.5, "object": {"z": "<", "a": [1]}, "null": None, "list": listed})
    table = hub.send("GET", path(), Accept=TABLE)
    names = [column["name"] for column in table["columnDefinitions"]]
    (row,) = table["rows"]
    # The columns from the first that cannot be read on are not there.
    assert dict(zip(names, row["cells"], strict=True)) == {
        "Name": "a",
        "float": "1.2345675e+06",
        "half": "0.5",
        "object": '{"a":[1],"z":"\\u003c"}',
        "null": "<no value>",
        "many": "1",
        "missing": None,
        "big": "two",
    }


def test_watches_follow_definitions_and_objects(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    revision = hub.send("GET", path())["metadata"]["resourceVersion"]
    hub.create("a")
    hub.define(definition(plural="games", kind="Game"))
    hub.send("DELETE", path("a"))
    query = f"?watch=1&timeoutSeconds=1&resourceVersion={revision}"
    objects = [json.loads(line) for line in hub.hub.request("GET", path() + query)[2].splitlines()]
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in objects] == [
        ("ADDED", "a"),
        ("DELETED", "a"),
    ]
    kinds = [json.loads(line) for line in hub.hub.request("GET", DEFINITIONS + query)[2].splitlines()]
    assert [each["type"] for each in kinds] == ["ADDED", "MODIFIED"]


def test_a_running_watch_ends_when_its_kind_changes_and_the_next_shows_the_new_form(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    since = hub.create("a", {"colour": "red", "count": 1})["metadata"]["resourceVersion"]
    with _watching(hub, since) as lines:
        hub.create("b", {"colour": "blue", "count": 2})
        assert json.loads(next(lines))["object"]["spec"] == {"colour": "blue", "count": 2}
        hub.redefine({"spec": {"versions": [version(of=schema(fields(count={"type": "integer"})))]}})
        assert list(lines) == []
    with _watching(hub, since) as lines:
        assert json.loads(next(lines))["object"]["spec"] == {"count": 2}


def test_a_running_watch_goes_on_when_the_labels_of_its_definition_change(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    since = hub.create("a")["metadata"]["resourceVersion"]
    with _watching(hub, since) as lines:
        hub.redefine({"metadata": {"labels": {"a": "b"}}})
        hub.create("b")
        assert json.loads(next(lines))["object"]["metadata"]["name"] == "b"


def test_a_running_watch_sees_its_objects_go_with_their_kind_and_ends(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    hub.create("a")
    since = hub.create("b")["metadata"]["resourceVersion"]
    with _watching(hub, since) as lines:
        hub.send("DELETE", f"{DEFINITIONS}/toys.{GROUP}")
        seen = [json.loads(line) for line in lines]
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in seen] == [("DELETED", "a"), ("DELETED", "b")]


def test_a_kind_that_is_defined_anew_is_not_followed_by_a_watch_of_the_old_one(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    since = hub.create("a", metadata={"finalizers": ["shop.example.com/held"]})["metadata"]["resourceVersion"]
    with _watching(hub, since) as lines:
        hub.send("DELETE", f"{DEFINITIONS}/toys.{GROUP}")
        assert json.loads(next(lines))["object"]["metadata"]["deletionTimestamp"]
        hub.patch("a", {"metadata": {"finalizers": None}})
        _until(hub, lambda: hub.send("GET", f"{DEFINITIONS}/toys.{GROUP}") and hub.code == 404)
        hub.define(definition(COLOUR))
        hub.create("b")
        assert [json.loads(line)["object"]["metadata"]["name"] for line in lines] == ["a"]


def test_names_belong_to_one_kind_of_a_group(hub: Shop) -> None:
    hub.define(definition(plural="toys", kind="Toy", names={"shortNames": ["t"]}))
    hub.define(definition(plural="tops", kind="Top", names={"shortNames": ["t"]}))
    other = f"tops.{GROUP}"
    assert hub.condition("NamesAccepted", other) == ("False", "ShortNamesConflict")
    assert hub.condition("Established", other) == ("False", "NotAccepted")
    assert hub.send("GET", path(plural="tops")) == "404 page not found\n"
    hub.send("DELETE", f"{DEFINITIONS}/toys.{GROUP}")
    _until(hub, lambda: hub.condition("Established", other) == ("True", "InitialNamesAccepted"))
    assert hub.send("GET", path(plural="tops"))["items"] == []


def test_a_kind_of_a_built_in_group_may_not_take_its_names(hub: Shop) -> None:
    body = definition(plural="roles", kind="Role", group="rbac.authorization.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    answer = hub.send("POST", DEFINITIONS, body)
    assert (hub.code, "it cannot be defined" in answer["message"]) == (403, True)


def test_a_cluster_scoped_kind_drops_a_namespace_in_the_body(hub: Shop) -> None:
    hub.define(definition(scope="Cluster"))
    place = f"/apis/{GROUP}/v1/toys"
    answer = hub.send("POST", place, toy("a", metadata={"namespace": "default"}))
    assert (hub.code, "namespace" in answer["metadata"]) == (201, False)
    assert hub.send("GET", f"/apis/{GROUP}/v1/namespaces/default/toys") == "404 page not found\n"


def test_selectable_fields_select(hub: Shop) -> None:
    hub.define(definition(COLOUR, selectableFields=[{"jsonPath": ".spec.colour"}]))
    hub.create("a", {"colour": "red"})
    hub.create("b", {"colour": "blue"})
    found = hub.send("GET", f"{path()}?fieldSelector=spec.colour%3Dblue")
    assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
    hub.send("GET", f"{path()}?fieldSelector=spec.count%3D1")
    assert hub.code == 400


def test_deprecated_versions_warn(hub: Shop) -> None:
    old = version("v1beta1", COLOUR, deprecated=True) | {"storage": False}
    told = version("v1alpha1", COLOUR, deprecated=True, deprecationWarning="gone soon") | {"storage": False}
    hub.define(definition(versions=[version(of=COLOUR), old, told]))
    hub.send("GET", path(version="v1beta1"))
    assert hub.warnings == [f'299 - "{GROUP}/v1beta1 Toy is deprecated; use {GROUP}/v1 Toy"']
    hub.send("GET", path(version="v1alpha1"))
    assert hub.warnings == ['299 - "gone soon"']


def test_a_namespace_takes_its_custom_objects_along(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    hub.send("POST", "/api/v1/namespaces", {"metadata": {"name": "play"}})
    place = path(namespace="play")
    hub.send("POST", place, toy("a"))
    assert hub.code == 201
    hub.send("DELETE", "/api/v1/namespaces/play")
    _until(hub, lambda: hub.send("GET", "/api/v1/namespaces/play") and hub.code == 404)
    assert hub.send("GET", path())["items"] == []


def test_merge_patches_of_a_definition_that_change_nothing_change_nothing(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    before = hub.definition()["metadata"]["resourceVersion"]
    answer = hub.send("PATCH", f"{DEFINITIONS}/toys.{GROUP}", {"spec": {"scope": "Namespaced"}}, MERGE)
    assert answer["metadata"]["resourceVersion"] == before


def test_metrics_do_not_grow_with_names_that_clients_make_up(hub: Shop) -> None:
    hub.define(definition(COLOUR))
    hub.create("a")
    metrics = hub.send("GET", "/metrics")
    assert 'resource="custom"' in metrics
    assert 'resource="toys"' not in metrics


def _until(hub: Shop, question: object) -> None:
    deadline = time.monotonic() + 20
    while not question():  # type: ignore[operator]  # any function without arguments
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


@contextmanager
def _watching(hub: Shop, since: str) -> Iterator[Iterator[bytes]]:
    """The lines of a watch that has begun; they end when the watch does."""
    with hub.hub.open(f"{path()}?watch=1&timeoutSeconds=20&resourceVersion={since}") as answer:
        yield iter(answer.readline, b"")
