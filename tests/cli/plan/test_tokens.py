"""`muster plan` and `muster apply --plan-token` beside a hub and its controllers: what is written is what was seen."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from muster.cli.main import run
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MERGE = "application/merge-patch+json"


@dataclass
class Shell:
    hub: Driver
    directory: Path
    kubeconfig: str
    by_server: bool  # who answers

    def write(self, *objects: dict[str, Any]) -> str:
        file = self.directory / "change.json"
        file.write_text("\n".join(json.dumps(each) for each in objects))
        return str(file)

    def typed(self, *args: str) -> tuple[int, str, str]:
        """Exit code and output, without the word about who has answered; a plain apply asks nobody."""
        out, err = io.StringIO(), io.StringIO()
        code = run([*args, "--kubeconfig", self.kubeconfig], io.StringIO(), out, err)
        lines = err.getvalue().splitlines(keepends=True)
        said = [each for each in lines if not each.startswith("muster: answered from lists, because the server")]
        asks = args[0] == "plan" or any(each.startswith("--plan") for each in args)
        assert (self.by_server or not asks) == (said == lines)
        return code, out.getvalue(), "".join(said)

    def token(self, file: str) -> str:
        code, out, err = self.typed("plan", "-f", file, "--force-conflicts", "-o", "json")
        assert code == 0, err
        return str(json.loads(out)["token"])

    def spec(self) -> Any:
        return self.hub.hub.request("GET", f"{APPS}/placements/p1")[2]


@pytest.fixture(params=["server", "ourselves"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    """A placement with two clusters; plans are answered by the server, or where none answers by the command."""
    state = tmp_path / "hub"
    state.mkdir()
    address = state / CONTROLLERS_ADDRESS if request.param == "server" else None
    with driven_hub(state=state) as hub, controllers(hub.hub, address=address) as manager:
        hub.create(a_binding("global"))
        for name, cloud in (("paris", "Amazon"), ("oslo", "Amazon"), ("rome", "Azure")):
            hub.create(a_cluster(name, {"cloud": cloud}))
        hub.create(wanting("Amazon"))
        eventually(lambda: set(hub.decided("p1")), {"oslo", "paris"})
        eventually(lambda: manager.idle, True)
        kubeconfig = str(hub.hub.kubeconfig(tmp_path / "kubeconfig"))
        yield Shell(hub, tmp_path, kubeconfig, by_server=address is not None)


def wanting(cloud: str, **spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": cloud}}}
    return a_placement("p1", predicates=[{"requiredClusterSelector": selector}], **spec)


def test_the_same_plan_is_applied_and_another_is_not(shell: Shell) -> None:
    file = shell.write(wanting("Azure"))
    token = shell.token(file)
    before = shell.spec()

    # A cluster that the plan is about leaves meanwhile.
    shell.hub.send("PATCH", f"{CLUSTERS}/rome", {"metadata": {"labels": {"cloud": "Google"}}}, MERGE)
    eventually(lambda: shell.token(file) != token, True)
    code, out, err = shell.typed("apply", "-f", file, "--force-conflicts", "--plan-token", token)
    assert (code, out) == (1, "")
    assert err.startswith("muster: the plan is another one than that of --plan-token:\n  ")
    assert err.endswith("look at `muster plan` again, and use its token\nnothing was applied\n")
    assert shell.spec() == before

    code, out, _ = shell.typed("plan", "-f", file, "--force-conflicts")
    *lines, last = out.splitlines()
    assert (code, lines) == (0, ["apps/p1: 2 → 0 clusters", "  - oslo", "  - paris"])
    fresh = last.removeprefix("token: ")
    assert shell.typed("apply", "-q", "-f", file, "--force-conflicts", "--plan-token", fresh)[:2] == (0, "")
    assert shell.spec() != before


def test_what_changes_nothing_that_the_plan_rests_on_leaves_the_token_alone(shell: Shell) -> None:
    file = shell.write(wanting("Azure"))
    token = shell.token(file)

    for name in ("paris", "rome"):  # heartbeats and what agents find out, also of clusters that the plan names
        beat = {"status": {"version": {"kubernetes": "v1.99.0"}, "allocatable": {"cpu": "7"}}}
        shell.hub.send("PATCH", f"{CLUSTERS}/{name}/status", beat, MERGE)
    shell.hub.create(a_cluster("kyoto", {"cloud": "Google"}))
    eventually(lambda: shell.token(file), token)


def test_the_message_names_what_has_changed(shell: Shell) -> None:
    file = shell.write(wanting("Azure"), a_cluster("paris", {"tier": "gold"}))
    token = shell.token(file)
    shell.hub.send("PATCH", f"{CLUSTERS}/paris", {"metadata": {"annotations": {"note": "x"}}}, MERGE)

    code, _, err = shell.typed("apply", "-f", file, "--force-conflicts", "--plan-token", token)

    assert code == 1
    assert "  ManagedCluster paris has changed\n" in err
    assert "Placement" not in err
    other = shell.write(wanting("Azure"))
    forced = ("apply", "-f", other, "--force-conflicts", "--plan-token")
    assert "  what is asked for has changed\n" in shell.typed(*forced, token)[2]
    assert "it is no token of a plan" in shell.typed(*forced, "p1.x.y")[2]


def test_a_plan_with_reasons_and_for_a_pull_request(shell: Shell) -> None:
    file = shell.write(wanting("Azure"))

    lost = "Predicate: predicate 1: label cloud is 'Amazon'; wanted cloud=Azure"
    code, out, _ = shell.typed("plan", "-f", file, "--force-conflicts", "--why")
    assert (code, out.splitlines()[2:4]) == (0, [f"  - oslo: {lost}", f"  - paris: {lost}"])
    code, out, err = shell.typed("plan", "-f", file, "--force-conflicts", "-o", "markdown", "--fail-if-removes", "2")
    assert (code, err) == (1, "guard: apps/p1 would lose 2 of 2 clusters\n")
    assert "| `apps/p1` | 2 | 1 | 1 | 2 | guarded |\n" in out


def test_the_guards_of_the_fleet_and_of_placements_speak_before_anything_is_written(shell: Shell) -> None:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "muster-decisions", "namespace": "kube-system"},
        "data": {"brake": "50%"},
    }
    shell.hub.send("POST", "/api/v1/namespaces/kube-system/configmaps", config_map)
    annotations = {"placement.muster.dev/min-clusters": "2"}
    shell.hub.patch(f"{APPS}/placements/p1", {"metadata": {"annotations": annotations}})
    file = shell.write(wanting("Azure"))

    def plan() -> tuple[int, str, str]:
        return shell.typed("plan", "-f", file, "--force-conflicts", "-o", "markdown")

    eventually(lambda: plan()[0], 1)
    eventually(lambda: "the brake of the fleet is on" in plan()[2], True)
    code, out, err = plan()
    assert code == 1
    assert "guard: apps/p1: 2 of 2 clusters would stay for now: oslo, paris: " in err
    assert "the placement wants at least 2 clusters left, and 1 would be" in err
    assert "| `apps/p1` | 2 | 1 | 1 | 2 | guarded |\n" in out
    # It is written all the same: what comes is there, what would go waits as was said, and a plan says so.
    assert shell.typed("apply", "-f", file, "--force-conflicts")[0] == 0
    eventually(lambda: shell.hub.decided("p1"), ["oslo", "paris", "rome"])
    shell.hub.patch(f"{CLUSTERS}/rome", {"metadata": {"labels": {"note": "x"}}})
    _, out, _ = shell.typed("plan", "-f", file, "--force-conflicts")
    assert "are held already: oslo, paris" in out or out.startswith("no placement changes")
