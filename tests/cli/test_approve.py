"""`muster approve placement` beside a hub with its controllers, and who may use it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement
from tests.cli.test_history_undo import Terminal
from tests.controllers.running import APPS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e
P1 = f"{APPS}/placements/p1"
RECORD = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementguardrecords/p1"


@pytest.fixture
def hub() -> Iterator[Driver]:
    """A frozen placement that would lose two of three clusters."""
    placement = a_placement()
    placement["metadata"] |= {"annotations": {"placement.muster.dev/freeze-removals": "true"}}
    with driven_hub() as found:
        found.create(a_binding("global"), *(a_cluster(name) for name in "abc"), placement)
        with controllers(found.hub):
            eventually(lambda: found.decided(), ["a", "b", "c"])
            found.patch(P1, {"spec": {"numberOfClusters": 1}})
            eventually(lambda: ((found.get(RECORD) or {}).get("held") or {}).get("count"), 2)
            yield found


def muster(hub: Driver, path: Path, *args: str, stdin: io.StringIO | None = None) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    kubeconfig = str(hub.hub.kubeconfig(path / "kubeconfig"))
    code = run(["approve", "placement", *args, "--kubeconfig", kubeconfig], stdin or io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def test_the_command_shows_what_goes_asks_and_lets_it_go(hub: Driver, tmp_path: Path) -> None:
    digest = hub.get(RECORD)["held"]["digest"]
    code, out, err = muster(hub, tmp_path, "apps/p1", stdin=Terminal("n\n"))
    assert (code, err) == (1, "nothing was approved\n")
    assert out.startswith("apps/p1: 2 clusters would be removed:\n  b\n  c\n")
    assert "removals are frozen by the placement" in out
    code, out, _ = muster(hub, tmp_path, "p1", "-n", "apps", "--digest", digest)
    assert (code, out.splitlines()[-1]) == (0, f"approved: change {digest} of apps/p1")
    eventually(lambda: hub.decided(), ["a"])
    eventually(lambda: hub.get(RECORD).get("held"), None)
    assert muster(hub, tmp_path, "apps/p1", "--yes")[:2] == (
        1,
        "nothing waits for an approval: no removal of apps/p1 is held\n",
    )


def test_the_guide_shows_what_the_command_prints(hub: Driver, tmp_path: Path) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "guards.md").read_text(encoding="utf-8")
    ((command, shown),) = re.findall(r"```console\n\$ (.*?)\n(.*?)```", guide, re.DOTALL)
    assert command == "muster approve placement apps/checkout"
    held = hub.get(RECORD)["held"]
    code, out, _ = muster(hub, tmp_path, "apps/p1", stdin=Terminal("y\n"))
    assert code == 0
    told = out.replace(held["digest"], "DIGEST").replace(held["since"], "SINCE").replace("apps/p1", "apps/checkout")
    as_shown = shown.replace("[y/N] y\n", "[y/N] ").replace("2026-11-16T12:00:00Z", "SINCE")
    assert told == as_shown.replace("3f0c2a9d1b7e64a85c11", "DIGEST")
    eventually(lambda: hub.decided(), ["a"])


def test_another_digest_is_refused_before_anything_is_written(hub: Driver, tmp_path: Path) -> None:
    code, _, err = muster(hub, tmp_path, "apps/p1", "--digest", "0" * 20)
    assert (code, "look again" in err) == (2, True)
    assert "placement.muster.dev/approve-removals" not in hub.get(P1)["metadata"]["annotations"]


def test_without_a_terminal_and_without_yes_nothing_is_approved(hub: Driver, tmp_path: Path) -> None:
    code, _, err = muster(hub, tmp_path, "apps/p1")
    assert (code, "--yes" in err) == (2, True)
    assert muster(hub, tmp_path, "apps/none", "--yes")[0] == 1
    assert muster(hub, tmp_path, "apps/p1", "-n", "other", "--yes")[0] == 2
