"""Policies as objects, and their verdicts by our own CEL beside those of the hub's functions. No server is needed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from muster.admission import Asker, validate
from muster.kubernetes.policies import policies
from muster.kubernetes.policies.expressions import hole, text
from muster.kubernetes.settings import DEFAULTS, HomeSettings
from muster.selectors.membership import DEFAULT_KEY
from tests.admission.writes import OCM, Nothing, a_write
from tests.builders import a_cluster
from tests.kubernetes.calling import a_binding, a_set
from tests.kubernetes.evaluating import refusals

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tests.kubernetes.evaluating import Asked

OBJECTS = policies(DEFAULTS)
Object = dict[str, Any]


def test_only_permissions_fail_closed_and_no_status_is_ever_asked_about() -> None:
    for each in OBJECTS:
        spec = each["spec"]
        if each["kind"].endswith("Binding"):
            continue
        assert spec["failurePolicy"] == ("Fail" if each["kind"].startswith("Validating") else "Ignore")
        for rule in spec["matchConstraints"]["resourceRules"]:
            assert not [name for name in rule["resources"] if "/" in name or "*" in name]
            assert "*" not in rule["apiGroups"]
            assert set(rule["operations"]) <= {"CREATE", "UPDATE"}
        for validation in spec.get("validations", ()):
            assert validation["reason"] == "Forbidden"
            assert "\n" not in validation["message"]


def test_every_policy_is_bound() -> None:
    kinds = [(each["kind"].removesuffix("Binding"), each["metadata"]["name"]) for each in OBJECTS]
    assert kinds[::2] == kinds[1::2]
    assert all(each["spec"]["policyName"] == each["metadata"]["name"] for each in OBJECTS[1::2])


def test_beside_open_cluster_management_its_own_webhooks_guard_all_but_what_is_ours() -> None:
    beside = policies(HomeSettings(mode="beside"))
    assert beside == policies(HomeSettings(mode="instead"))
    assert {each["metadata"]["name"] for each in beside} == {"muster-approve"}
    assert policies(HomeSettings(policies=False)) == []


def test_texts_become_expressions() -> None:
    assert text(f"the set {hole('params.metadata.name')} isn't yours") == (
        "'the set ' + params.metadata.name + ' isn\\'t yours'"
    )
    assert text(hole("a")) == "a"


# --- The same verdicts ----------------------------------------------------------------------------------------------


class Permitted(Nothing):
    """A world with some sets, where alice has some permissions."""

    def __init__(self, sets: Sequence[Object], may: Collection[Asked]) -> None:
        self._sets = {each["metadata"]["name"]: each for each in sets}
        self._may = may

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        return self._sets.get(name) if resource.startswith("managedclustersets") else None

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[Object]:
        return list(self._sets.values())

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        path, _, group = resource.partition(".")
        plural, _, part = path.partition("/")
        if not part:
            return ()  # what roles say of the objects themselves was asked before
        return [name for name in names if (verb, group, plural, part, name) not in self._may]


KEYS, NAMES = ("region", "a.b/c"), ("apac", "us")
VALUES = st.sampled_from([*NAMES, *NAMES, "nowhere", ""])
LABELS = st.fixed_dictionaries({"region": VALUES}, optional={"a.b/c": VALUES, DEFAULT_KEY: VALUES, "other": VALUES})
SPECS: st.SearchStrategy[Object] = st.fixed_dictionaries(
    {"exclusiveKey": st.sampled_from([*KEYS, *KEYS, DEFAULT_KEY, ""])},
    optional={"clusterSelector": st.sampled_from([{"selectorType": "LabelSelector", "labelSelector": {}}, {}])},
) | st.just({})
FLEETS = st.fixed_dictionaries({"apac": SPECS}, optional={"us": SPECS})
JOINS = st.sets(st.sampled_from([*NAMES, "nowhere"])).map(
    lambda names: {("create", OCM, "managedclustersets", "join", name) for name in names}
)
ACCEPTS = st.sets(st.just(("update", f"register.{OCM.partition('.')[2]}", "managedclusters", "accept", "c")))


def by_hub(plural: str, new: Object, old: Object | None, sets: Sequence[Object], may: Collection[Asked]) -> str:
    write = replace(a_write(plural, new, old), asker=Asker("alice"))
    found = asyncio.run(validate(write, Permitted(sets, may)))
    return "" if found.refusal is None else found.refusal.message


def agree(plural: str, new: Object, old: Object | None, sets: Sequence[Object], may: Collection[Asked]) -> None:
    """Both refuse or none does, and each refusal of a policy is one of those that the hub lists, in its words."""
    hub = by_hub(plural, new, old, sets, may)
    found = list(refusals(OBJECTS, plural, new, old, sets, may))
    assert bool(hub) == bool(found), (hub, found)
    for each in found:
        sentence, missing, _ = each.split("; ", 2)
        assert (
            missing.removeprefix("missing permissions: ").partition(" (")[0] in hub
        )  # who is named twice has one reason
        assert "\n" not in each
        if len(found) == 1:
            assert sentence == hub.splitlines()[0]


def cluster(labels: dict[str, str], *, accepted: bool) -> Object:
    made = a_cluster("c")
    return made | {"metadata": {"name": "c", "labels": labels}, "spec": {"hubAcceptsClient": accepted}}


@settings(max_examples=400)
@given(
    after=LABELS,
    before=st.none() | LABELS,
    accepted=st.tuples(st.booleans(), st.booleans()),
    fleet=FLEETS,
    joins=JOINS,
    accepts=ACCEPTS,
)
def test_clusters_that_move_and_are_accepted(
    after: dict[str, str],
    before: dict[str, str] | None,
    accepted: tuple[bool, bool],
    fleet: dict[str, Object],
    joins: set[Asked],
    accepts: set[Asked],
) -> None:
    sets = [a_set(name, **spec) for name, spec in fleet.items()]
    old = None if before is None else cluster(before, accepted=accepted[0])
    agree("managedclusters", cluster(after, accepted=accepted[1]), old, sets, joins | accepts)


@given(new=SPECS, old=st.none() | SPECS, keys=st.sets(st.sampled_from(KEYS)))
def test_sets_that_begin_to_have_members(new: Object, old: Object | None, keys: set[str]) -> None:
    may = {("create", OCM, "managedclustersets", "exclusiveKey", key) for key in keys}
    agree("managedclustersets", a_set("s", **new), None if old is None else a_set("s", **old), [], may)


@given(name=st.sampled_from(NAMES), bound=st.sets(st.sampled_from(NAMES)), stored=st.booleans())
def test_sets_that_are_bound(name: str, bound: set[str], stored: bool) -> None:
    may = {("create", OCM, "managedclustersets", "bind", each) for each in bound}
    agree("managedclustersetbindings", a_binding(name), a_binding(name) if stored else None, [], may)
