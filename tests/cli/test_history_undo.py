"""`muster history`, `muster undo` and `muster apply --plan` beside a hub with its controllers."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e
HISTORY = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementhistories/p1"


class Terminal(io.StringIO):
    """Somebody who answers, and may do something before."""

    def __init__(self, answer: str, before: Callable[[], Any] = lambda: None) -> None:
        super().__init__(answer)
        self._before = before

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # its stub has two ancestors
        self._before()
        return super().readline(-1 if size is None else size)


class Desk:
    """A hub, its controllers, and the command."""

    def __init__(self, hub: Driver, directory: Path) -> None:
        self.hub = hub
        self.directory = directory
        self._kubeconfig = str(hub.hub.kubeconfig(directory / "kubeconfig"))

    def muster(self, *args: str, stdin: io.StringIO | None = None) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        code = run([*args, "--kubeconfig", self._kubeconfig], stdin or io.StringIO(), out, err)
        said = err.getvalue().splitlines(keepends=True)  # without the word that no controllers answered questions
        own = [each for each in said if not each.startswith("muster: answered from lists")]
        return code, out.getvalue(), "".join(own)

    def revisions(self) -> list[int]:
        return [each["revision"] for each in (self.hub.get(HISTORY) or {}).get("revisions") or []]

    def spec(self) -> dict[str, Any]:
        found: dict[str, Any] = self.hub.get(f"{APPS}/placements/p1")["spec"]
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with driven_hub() as hub, controllers(hub.hub):
        hub.create(a_binding("global"), a_cluster("a"), a_cluster("b"), a_placement("p1"))
        eventually(hub.decided, ["a", "b"])
        desk = Desk(hub, tmp_path)
        eventually(desk.revisions, [1])
        yield desk


def test_an_earlier_spec_comes_back_and_nothing_else(desk: Desk) -> None:
    hub = desk.hub
    hub.patch(f"{APPS}/placements/p1", {"spec": {"numberOfClusters": 1}, "metadata": {"labels": {"team": "shop"}}})
    eventually(hub.decided, ["a"])
    eventually(desk.revisions, [1, 2])
    code, out, err = desk.muster("undo", "placement", "p1", "-n", "apps", "--plan", stdin=Terminal("y\n"))
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if not line.startswith("back to revision 1 of 20")] == [
        "  spec.numberOfClusters: 1 → (none)",
        "apps/p1: 1 → 2 clusters",
        "  + b",
        "Restore it? [y/N] the spec of revision 1 is back, as revision 3",
    ]
    eventually(hub.decided, ["a", "b"])
    eventually(desk.revisions, [1, 2, 3])
    assert hub.get(f"{APPS}/placements/p1")["metadata"]["labels"] == {"team": "shop"}
    assert desk.muster("undo", "placement", "p1", "-n", "apps", "--to", "2", "--yes")[0] == 0
    assert desk.spec()["numberOfClusters"] == 1


def test_a_no_and_an_edit_in_between_leave_the_placement_alone(desk: Desk) -> None:
    path = f"{APPS}/placements/p1"
    desk.hub.patch(path, {"spec": {"numberOfClusters": 1}})
    eventually(desk.revisions, [1, 2])
    code, _, err = desk.muster("undo", "placement", "p1", "-n", "apps", stdin=Terminal("n\n"))
    assert (code, err, desk.spec()["numberOfClusters"]) == (1, "nothing was changed\n", 1)
    racing = Terminal("y\n", before=lambda: desk.hub.patch(path, {"spec": {"numberOfClusters": 2}}))
    code, _, err = desk.muster("undo", "placement", "p1", "-n", "apps", stdin=racing)
    assert (code, desk.spec()["numberOfClusters"]) == (1, 2)
    assert "the object has been modified" in err


def test_what_the_controllers_write_meanwhile_is_no_reason_to_refuse(desk: Desk) -> None:
    path = f"{APPS}/placements/p1"
    desk.hub.patch(path, {"spec": {"numberOfClusters": 1}})
    eventually(desk.revisions, [1, 2])
    racing = Terminal("y\n", before=lambda: desk.hub.patch(path, {"metadata": {"annotations": {"noted": "meanwhile"}}}))
    code, _, err = desk.muster("undo", "placement", "p1", "-n", "apps", stdin=racing)
    assert (code, err) == (0, "")
    assert "numberOfClusters" not in desk.spec()
    assert desk.hub.get(path)["metadata"]["annotations"]["noted"] == "meanwhile"


def test_without_a_terminal_nothing_is_asked_and_nothing_written(desk: Desk) -> None:
    change = desk.directory / "change.json"
    change.write_text(json.dumps(a_placement("p1", numberOfClusters=1)))
    for args in (("undo", "placement", "p1", "-n", "apps"), ("apply", "--plan", "-f", str(change))):
        code, out, err = desk.muster(*args)
        assert (code, out) == (2, "")
        assert err.endswith("there is no terminal to ask on: add --yes, and it does not ask\n")
    assert "numberOfClusters" not in desk.spec()


def test_apply_shows_its_plan_and_asks(desk: Desk) -> None:
    change = desk.directory / "change.json"
    change.write_text(json.dumps(a_placement("p1", numberOfClusters=1)))
    plan = "apps/p1: 2 → 1 clusters\n  - b\n"
    code, out, err = desk.muster("apply", "--plan", "-f", str(change), stdin=Terminal("\n"))
    assert (code, out, err) == (1, f"{plan}Apply 1 objects? [y/N] ", "nothing was applied\n")
    code, out, _ = desk.muster("apply", "--plan", "-f", str(change), "-q", stdin=Terminal("yes\n"))
    assert (code, out) == (0, f"{plan}Apply 1 objects? [y/N] ")
    eventually(desk.hub.decided, ["a"])


def test_nothing_to_go_back_to_and_no_such_revision_are_said(desk: Desk) -> None:
    assert desk.muster("undo", "placement", "p1", "-n", "apps", "--yes")[::2] == (
        2,
        "muster: there is nothing to go back to: no earlier spec is kept\n",
    )
    assert desk.muster("undo", "placement", "p1", "-n", "apps", "--to", "7", "--yes")[::2] == (
        2,
        "muster: there is no revision 7; kept are 1\n",
    )
    assert desk.muster("history", "placement", "p9", "-n", "apps")[0] == 1


def test_history_prints_moves_and_specs_for_people_and_machines(desk: Desk) -> None:
    desk.hub.send("DELETE", f"{CLUSTERS}/b")
    eventually(desk.hub.decided, ["a"])
    eventually(lambda: (desk.hub.get(HISTORY).get("decided") or {}).get("count"), 1)
    code, out, _ = desk.muster("history", "placement", "p1", "-n", "apps", "--last", "1")
    lines = out.splitlines()
    assert (code, lines[0].startswith("apps/p1: 1 clusters, "), lines[1][20:]) == (0, True, "  2 → 1  - b")
    assert lines[2:5] == [
        "    ManagedCluster b was deleted",
        "      b: Cluster: fits → there is no such cluster",
        "specs:",
    ]
    found = json.loads(desk.muster("history", "placement", "p1", "-n", "apps", "-o", "json")[1])
    assert found["changes"][-1]["causes"] == [{"kind": "ManagedCluster", "name": "b", "deed": "Deleted"}]
    assert "sortBy: ClusterName\n" in desk.muster("history", "placement", "p1", "-n", "apps", "--revision", "1")[1]
