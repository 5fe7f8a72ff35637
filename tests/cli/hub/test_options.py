"""What `muster hub run` is told reaches the processes that it starts, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.cli.hub.options import FleetOptions, Registration, ServerOptions, WarnOrRefuse
from muster.cli.inputs.option_groups import arguments_of
from muster.hub.audit import AuditLevel
from tests.cli.tree import all_commands
from tests.controllers.processes import hub_process

if TYPE_CHECKING:
    from muster.values.json import Json

OTHERS: dict[str, Json] = {
    "data": Path("/somewhere"),
    "host": "0.0.0.0",
    "port": 8443,
    "demo": True,
    "tls_name": ["a.example.com", "b.example.com"],
    "tls_cert": Path("/c"),
    "tls_key": Path("/k"),
    "tls_ca": Path("/a"),
    "anonymous": True,
    "strict_names": True,
    "default_cluster_set": False,
    "taint_on_join": True,
    "denied_key": ["kubernetes.io/"],
    "audit": AuditLevel.ALL,
    "placement_admission": WarnOrRefuse.REFUSE,
    "classification_admission": WarnOrRefuse.REFUSE,
}


def test_every_option_is_tried() -> None:
    assert set(OTHERS) == {each.name for each in fields(ServerOptions)}
    assert all(getattr(ServerOptions(), name) != value for name, value in OTHERS.items())


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_an_option_survives_the_way_to_the_server(name: str) -> None:
    told = arguments_of(replace(ServerOptions(), **{name: OTHERS[name]}))
    with all_commands()["muster hub serve"].make_context("serve", told) as ctx:
        usual = {each.name: getattr(ServerOptions(), each.name) for each in fields(ServerOptions)}
        found = {key: value for key, value in ctx.params.items() if key in usual}
        wanted = usual | {name: OTHERS[name]}
        assert {key: _plain(value) for key, value in found.items()} == {
            key: _plain(value) for key, value in wanted.items()
        }


def _plain(value: object) -> object:
    """A value as the parser leaves it: typer makes a Path of a text, and a list of several, when it calls a command."""
    if isinstance(value, list):
        return tuple(value) or None
    return str(value) if isinstance(value, Path) else value or None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (FleetOptions(), []),
        (FleetOptions(registration=Registration.OFF), ["--registration", "off"]),
        (
            FleetOptions(registration=Registration.ALL, cluster_profiles=True),
            ["--registration", "all", "--cluster-profiles"],
        ),
    ],
)
def test_what_is_done_about_clusters_that_join_reaches_the_controllers(options: FleetOptions, said: list[str]) -> None:
    assert arguments_of(options) == said
    with all_commands()["muster hub controllers"].make_context("controllers", said) as ctx:
        found = {each.name: ctx.params[each.name] for each in fields(FleetOptions)}
        assert FleetOptions(**found) == options


def test_what_is_usual_is_not_said() -> None:
    assert arguments_of(ServerOptions()) == []


def test_run_and_serve_take_the_same_options() -> None:
    def options(path: str) -> set[str]:
        return {each.name or "" for each in all_commands()[path].params if not getattr(each, "hidden", False)}

    ours = {each.name for each in fields(ServerOptions)}
    assert ours <= options("muster hub run")
    assert ours <= options("muster hub serve")


@pytest.mark.e2e
def test_the_users_own_defaults_do_not_lead_the_hubs_controllers_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("context: nosuch\nkubeconfig: /nowhere\n")
    environment = {"MUSTER_CONFIG": str(tmp_path / "config.yaml"), "MUSTER_CONTEXT": "nosuch"}
    hub = tmp_path / "hub"
    hub.mkdir()
    with hub_process(hub, command="serve", **environment):
        started = subprocess.Popen(
            [sys.executable, "-m", "muster", "hub", "controllers", "--data", str(hub)],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "controllers are running over 0 clusters\n"
        finally:
            started.terminate()
            started.communicate(timeout=60)
