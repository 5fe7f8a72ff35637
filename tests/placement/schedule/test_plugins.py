"""Plugins: the example of the guide, and what cannot be wired."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from muster.errors import PluginError
from muster.fleet import Fleet
from muster.placement import Cycle, decided, plan_of, schedule, visibility, why_not
from muster.placement.schedule.plugins import profile_with, scorers_with
from muster.plugins import installed
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.placement.schedule.test_pipeline import NOW, no_cel

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "writing-a-plugin.md"


def example() -> dict[str, Any]:
    """The Python of the guide."""
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(code, str(GUIDE), "exec"), names)
    return names


def test_the_example_of_the_guide_filters_and_scores() -> None:
    import msgspec

    names = example()
    profile = profile_with({"NotOnFriday": names["NotOnFriday"]})
    scorers = scorers_with({"Greenest": names["Greenest"]})
    policy = {
        "mode": "Exact",
        "configurations": [{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Greenest"}, "weight": 2}],
    }
    fleet = Fleet()
    clusters = [
        a_cluster("dirty", {"carbon": "90"}),
        a_cluster("green", {"carbon": "10"}),
        a_cluster("frozen", {"carbon": "0", "frozen": "true"}),
    ]
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    plan = plan_of(a_placement(prioritizerPolicy=policy, numberOfClusters=1), no_cel, scorers)
    seen = visibility("apps", (), [a_binding()], [a_set()])
    result = schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, (), {})), profile)
    assert result.selected == ["green"]
    assert result.total_scores() == {"dirty": 20, "green": 180}
    assert why_not(result, "frozen", profile) == "NotOnFriday: the cluster is frozen until Monday"
    assert ("metadata", "labels", "carbon") in plan.paths


def _broken() -> Any:
    raise RuntimeError("no licence")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_broken, "plugin Odd: cannot be made: no licence"),
        (object, "plugin Odd: object has none of the methods of a plugin of its kind"),
    ],
)
def test_what_cannot_be_wired_is_refused_at_the_start(make: Any, message: str) -> None:
    for wire in (profile_with, scorers_with):
        with pytest.raises(PluginError) as caught:
            wire({"Odd": make})
        assert str(caught.value) == message


def test_a_plugin_may_not_replace_a_built_in_scorer() -> None:
    with pytest.raises(PluginError, match="a scorer of this name is built in"):
        scorers_with({"Steady": example()["Greenest"]})


def test_a_plugin_that_fails_is_named_with_the_cluster() -> None:
    class Failing:
        name = "Failing"

        def why_not(self, cluster: dict[str, Any]) -> str | None:
            raise KeyError("region")

    import msgspec

    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(a_cluster("a"))])
    plan = plan_of(a_placement(), no_cel)
    seen = visibility("apps", (), [a_binding()], [a_set()])
    cycle = Cycle(plan, fleet, seen, NOW, decided(fleet, (), {}))
    with pytest.raises(PluginError, match="plugin Failing: failed on cluster a: 'region'"):
        schedule(cycle, profile_with({"Failing": Failing}))


def test_an_installation_without_plugins_has_the_built_in_ones() -> None:
    profile, scorers = installed()
    assert [each.name for each in profile.filters] == ["Predicate", "TaintToleration"]
    assert sorted(scorers) == ["Balance", "ResourceAllocatableCPU", "ResourceAllocatableMemory", "Steady"]
