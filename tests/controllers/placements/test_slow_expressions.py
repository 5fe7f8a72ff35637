"""An expression that takes as long as it may: its own placement waits, nobody else's does."""

from __future__ import annotations

import time

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, controllers, driven_hub, eventually

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
TEN = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
# Some hundred thousand steps for every cluster, just within what one expression may cost.
HOSTILE = (
    f"managedCluster.metadata.name.size() > 0 && {TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, "
    f"{TEN}.all(e, a + b + c + d + e >= 0)))))"
)


def by(*expressions: str) -> list[dict[str, object]]:
    return [{"requiredClusterSelector": {"celSelector": {"celExpressions": list(expressions)}}}]


def test_hostile_expressions_do_not_hold_up_other_placements() -> None:
    names = [f"c{number:03d}" for number in range(200)]
    with driven_hub() as hub, controllers(hub.hub) as manager:
        hub.create(a_binding("global"), *(a_cluster(name) for name in names))
        hub.create(a_placement("good", predicates=by("managedCluster.metadata.labels['x'] == 'y'")))
        eventually(lambda: hub.get(f"{APPS}/placements/good").get("status") is not None, True)
        hostile = [a_placement(f"bad{number}", predicates=by(f"{HOSTILE} && {number} >= 0")) for number in range(6)]
        hub.create(*hostile)
        delays = []
        for name in names[:8]:
            started = time.monotonic()
            hub.patch(f"{CLUSTERS}/{name}", {"metadata": {"labels": {"x": "y"}}})
            # mypy cannot infer a lambda that binds the loop's variable.
            eventually(lambda name=name: name in hub.decided("good"), True)  # type: ignore[misc]
            delays.append(time.monotonic() - started)
        # Still at it: what was measured above was measured beside it.
        assert not manager.placements.queue.idle
        assert max(delays) < 2.0
        assert hub.decided("bad0") == []
