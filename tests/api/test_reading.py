"""Whatever JSON holds, a struct of a kind can be read from it, and what cannot is named."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from muster.api import registry
from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.agent import Agent
from muster.api.agent_classification import AgentClassification
from muster.api.config_map import ConfigMap
from muster.api.lease import Lease
from muster.api.managed_cluster import ManagedCluster
from muster.api.managed_cluster_set import ManagedClusterSet
from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.parts import Condition, ManagedObject, PartialObject, plain_conditions
from muster.api.placement import Placement, PlacementSpec, Toleration
from muster.api.placement_decision import PlacementDecision
from muster.api.placement_history import PlacementHistory
from muster.api.reading import Reader, Reading
from muster.api.resolution import Resolution
from muster.errors import InvalidObjectError
from muster.values.faults import Fault

PLACEMENTS = Reader(Placement)
KINDS: tuple[type[Any], ...] = (
    AddOnPlacementScore,
    Agent,
    AgentClassification,
    ConfigMap,
    Lease,
    ManagedCluster,
    ManagedClusterSet,
    ManagedClusterSetBinding,
    ManagedObject,
    PartialObject,
    Placement,
    PlacementDecision,
    PlacementHistory,
    Resolution,
)


def read(spec: Any) -> Reading[Placement]:
    found = PLACEMENTS.read(msgspec.json.encode({"metadata": {"name": "p"}, "spec": spec}))
    assert not isinstance(found, Fault)
    return found


def test_what_fits_is_read_as_it_is() -> None:
    found = read({"numberOfClusters": 3, "tolerations": [{"key": "k", "operator": "Exists"}], "unknown": {"a": [1]}})
    wanted = PlacementSpec(number_of_clusters=3, tolerations=(Toleration("k", "Exists"),))
    assert found == Reading(Placement(found.obj.metadata, wanted))


@pytest.mark.parametrize(
    ("spec", "same_as"),
    [
        (None, {}),
        ({"predicates": None, "clusterSets": None, "sortBy": None}, {}),
        ({"predicates": [None]}, {"predicates": [{}]}),
        ({"clusterSets": ["a", None]}, {"clusterSets": ["a", ""]}),
        ({"tolerations": [None, {"key": None}]}, {"tolerations": [{}, {}]}),
        ({"numberOfClusters": 3.0}, {"numberOfClusters": 3}),
        ({"numberOfClusters": 1e3}, {"numberOfClusters": 1000}),
        ({"numberOfClusters": None}, {}),
        ({"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 2.0}}},
         {"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 2}}}),
    ],
)  # fmt: skip
def test_null_is_what_was_never_said_and_a_whole_number_an_integer(spec: Any, same_as: Any) -> None:
    assert read(spec) == read(same_as)
    assert read(spec).faults == ()


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (5, "spec: expected an object, not a number"),
        ({"predicates": {}}, "spec.predicates: expected a list, not an object"),
        ({"predicates": [[]]}, "spec.predicates[0]: expected an object, not a list"),
        ({"numberOfClusters": "3"}, "spec.numberOfClusters: expected an integer or null, not a string"),
        ({"numberOfClusters": 1.5}, "spec.numberOfClusters: expected an integer or null, not a number"),
        ({"numberOfClusters": True}, "spec.numberOfClusters: expected an integer or null, not true or false"),
        ({"clusterSets": [True]}, "spec.clusterSets[0]: expected a string, not true or false"),
        (
            {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"a": 5}}}}]},
            "spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.a: expected a string, not a number",
        ),
    ],
)
def test_a_field_of_another_shape_is_left_out_and_named(spec: Any, fault: str) -> None:
    found = read(spec)
    assert [str(each) for each in found.faults] == [fault]
    assert found.fault_in("spec") is not None
    assert found.fault_in("status") is None
    with pytest.raises(InvalidObjectError) as raised:
        PLACEMENTS.demanded({"spec": spec})
    assert str(raised.value) == fault


def test_the_rest_of_an_object_with_a_fault_is_there() -> None:
    found = read({"clusterSets": 5, "numberOfClusters": 2, "tolerations": [{"key": 1, "value": "v"}]})
    assert found.obj.spec == PlacementSpec(number_of_clusters=2, tolerations=(Toleration(value="v"),))
    assert [each.path for each in found.faults] == ["spec.clusterSets", "spec.tolerations[0].key"]


@pytest.mark.parametrize(
    "encoded",
    [b"", b"{", b"5", b"[]", b"null", b'{"spec": {"sortBy": "\xed\xa0\x80"}}', b'{"a":' + b"[" * 5000],
)
def test_what_is_no_object_is_a_fault_and_not_an_exception(encoded: bytes) -> None:
    assert isinstance(PLACEMENTS.read(encoded), Fault)


def test_an_inventory_stays_the_json_that_it_is() -> None:
    agents = Reader(Agent)
    for inventory in (b"[1, 2]", b'"text"', b"1e400", b"null", b'{"a":{"b":null}}'):
        found = agents.read(b'{"status":{"inventory":%b}}' % inventory)
        assert not isinstance(found, Fault)
        assert bytes(found.obj.status.inventory) == inventory
    fitted = agents.read(b'{"metadata":{"labels":null},"status":{"inventory":[1,{"a":null}]}}')
    assert not isinstance(fitted, Fault)
    assert bytes(fitted.obj.status.inventory) == b'[1,{"a":null}]'


def test_what_json_cannot_say_is_left_out_of_an_inventory_and_named() -> None:
    """A lone surrogate, for one, which an escape in a file can make."""
    found = Reader(Agent).partly({"metadata": {"name": "a"}, "status": {"inventory": {"vendor": "\ud800"}}})
    assert [each.path for each in found.faults] == ["status.inventory"]
    assert (found.obj.metadata.name, bytes(found.obj.status.inventory)) == ("a", b"")


def test_a_part_that_cannot_be_read_stops_only_those_who_need_it() -> None:
    found = PLACEMENTS.partly({"metadata": {"name": "p"}, "spec": {"clusterSets": 5}})
    assert found.demanded("metadata").metadata.name == "p"
    with pytest.raises(InvalidObjectError, match=r"^spec\.clusterSets: expected a list, not a number$"):
        found.demanded("spec")
    with pytest.raises(InvalidObjectError, match=r"^expected an object, not a list$"):
        PLACEMENTS.partly([])


def test_a_condition_is_written_with_what_its_schema_requires() -> None:
    (written,) = plain_conditions([Condition("A", "True")])
    assert written == {"type": "A", "status": "True", "reason": "", "message": ""}


_values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)


@some.composite
def odd_objects(draw: some.DrawFn, schema: Any, depth: int = 0) -> Any:
    """Values by a schema, any of which may be something else."""
    if depth > 5 or draw(some.integers(0, 9)) == 0:
        return draw(_values)
    if schema.get("type") == "object" and "properties" in schema:
        chosen = draw(some.lists(some.sampled_from(sorted(schema["properties"])), unique=True, max_size=4))
        return {name: draw(odd_objects(schema["properties"][name], depth + 1)) for name in chosen}
    if schema.get("type") == "array":
        return draw(some.lists(odd_objects(schema["items"], depth + 1), max_size=2))
    return draw(_values)


@given(data=some.data())
def test_every_kind_is_read_from_whatever_stands_in_its_fields(data: some.DataObject) -> None:
    kind = data.draw(some.sampled_from(KINDS))
    resource = next((each for each in registry.RESOURCES.values() if each.kind == kind.__name__), None)
    schema = {"type": "object"} if resource is None else dict(resource.storage_version.schema)
    encoded = msgspec.json.encode(data.draw(odd_objects(schema)))
    found = Reader(kind).read(encoded)
    if isinstance(found, Fault):
        assert not encoded.startswith(b"{")
    else:
        assert isinstance(found.obj, kind)
        assert Reader(kind).fitted(msgspec.json.decode(encoded)) == found  # whoever has decoded it already
        again = Reader(kind).read(msgspec.json.encode(found.obj))
        assert not isinstance(again, Fault)
        assert again.faults == ()
