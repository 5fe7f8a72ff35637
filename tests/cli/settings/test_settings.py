"""Defaults from a file: what was typed counts most, then the environment, then the file, then what is built in."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from muster.cli.hub.options import option_names
from muster.cli.main import run
from muster.cli.settings.file import settings_path
from tests.cli.tree import all_commands

if TYPE_CHECKING:
    from pathlib import Path

FLEET = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: a}\n"
KUBECONFIG = """\
current-context: one
contexts:
- {name: one, context: {cluster: c1, namespace: of-one}}
- {name: two, context: {cluster: c2, namespace: of-two}}
clusters:
- {name: c1, cluster: {server: 'http://127.0.0.1:1'}}
- {name: c2, cluster: {server: 'http://127.0.0.1:2'}}
users: []
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.yaml"
    monkeypatch.setenv("MUSTER_CONFIG", str(path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    (tmp_path / "fleet.yaml").write_text(FLEET)
    return path


def muster(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run([*args], io.StringIO(), out, err), out.getvalue(), err.getvalue()


def in_force() -> dict[str, tuple[str, str]]:
    code, out, err = muster("config", "-o", "json")
    assert code == 0, err
    return {each["key"]: (each["value"], each["from"]) for each in json.loads(out)["settings"]}


def test_without_a_file_everything_is_built_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MUSTER_CONFIG")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings_path() == tmp_path / "muster" / "config.yaml"
    assert {origin for _, origin in in_force().values()} == {"built in"}
    assert muster("config")[1].startswith(f"{tmp_path}/muster/config.yaml (there is none)\n")


def test_each_value_says_where_it_comes_from(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("# mine\ncontext: two\nnamespace: apps\nhub:\n  port: 8443\n  objects-per-kind: 5000\n")
    monkeypatch.setenv("MUSTER_NAMESPACE", "other")
    found = in_force()
    assert found["context"] == ("two", f"{file}:2")
    assert found["namespace"] == ("other", "$MUSTER_NAMESPACE")
    assert found["hub.port"] == ("8443", f"{file}:5")
    assert found["hub.objects-per-kind"] == ("5000", f"{file}:6")
    assert found["data"][1] == "built in"


def server_of(*args: str) -> str:
    """The server that a command speaks to: nobody answers, and it is named."""
    return muster("get", "placements", *args)[2].partition("http://")[2].partition(":")[2].partition(":")[0]


def test_what_is_typed_counts_more_than_the_environment_and_that_more_than_the_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(f"kubeconfig: {tmp_path}/kubeconfig\n")
    assert server_of() == "1"
    file.write_text("kubeconfig: ~/kubeconfig\ncontext: two\n")
    assert server_of() == "2"
    monkeypatch.setenv("MUSTER_CONTEXT", "one")
    assert server_of() == "1"
    assert server_of("--context", "two") == "2"
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    assert "no kubeconfig" in muster("get", "placements")[2]


def test_a_format_counts_where_a_command_has_it(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("")
    select = ("select", "true", "--fleet", str(tmp_path / "fleet.yaml"))
    assert muster(*select)[1] == "a\n"
    file.write_text("output: json\n")
    assert json.loads(muster(*select)[1])["items"][0]["metadata"]["name"] == "a"
    assert muster(*select, "-o", "name")[1] == "a\n"
    monkeypatch.setenv("MUSTER_OUTPUT", "name")
    assert muster(*select)[1] == "a\n"
    assert muster("config")[1].startswith(str(file))  # which has no such format, and prints as ever


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("namspace: apps\n", ":1: there is no setting 'namspace': did you mean namespace?"),
        (
            "hub: {}\nzzz: 1\n",
            ":2: there is no setting 'zzz'; there are kubeconfig, context, namespace, output, data, hub",
        ),
        ("output: jsn\n", ":1: no command prints 'jsn': did you mean json?"),
        ("namespace: [a]\n", ":1: namespace is a text (namespace), this is ['a']"),
        ("hub: 1\n", ":1: hub is a mapping of options of `muster hub run` by name, such as `port: 8443`, this is 1"),
        ("hub:\n  prot: 1\n", ":2: there is no setting 'prot': did you mean port"),
        ("- a\n", ": settings are a mapping, such as `namespace: apps`"),
        ("a: {\n", "not valid YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    code, out, err = muster("config")
    assert (code, out) == (2, "")
    assert said in err
    assert str(file) in err


def test_a_file_that_is_named_and_not_there_is_said_to_be_so(file: Path) -> None:
    assert muster("config") == (2, "", f"muster: {file}: no such file; $MUSTER_CONFIG names it\n")


def test_help_is_shown_whatever_the_file_says(file: Path) -> None:
    file.write_text("nosuch: 1\n")
    assert muster("get", "placements")[0] == 2
    assert muster("get", "--help")[0] == 0
    assert muster("--version")[0] == 0
    assert muster("completion", "bash")[0] == 0


def test_the_hub_may_be_told_every_option_of_its_run(file: Path) -> None:
    options = {
        option.lstrip("-")
        for param in all_commands()["muster hub run"].params
        if not getattr(param, "hidden", False)
        for option in param.opts
    }
    assert option_names() == (options - {"data", "demo", "help"}) | {"lease-namespace"}
    file.write_text("hub: {port: many}\n")
    code, _, err = muster("hub", "run", "--data", str(file.parent / "hub"))
    assert code == 2
    assert "--port" in err
    assert f"({file}:1 says so)" in err


def test_a_directory_in_the_file_is_the_hub_that_is_meant(file: Path, tmp_path: Path) -> None:
    file.write_text("data: ~/my-hub\n")
    assert muster("hub", "stop")[1] == f"no hub runs in {tmp_path}/my-hub\n"
    assert muster("hub", "stop", "--data", "elsewhere")[1] == "no hub runs in elsewhere\n"


def test_a_kubeconfig_to_write_is_not_the_one_to_read(file: Path, tmp_path: Path) -> None:
    file.write_text(f"kubeconfig: {tmp_path}/kubeconfig\ndata: {tmp_path}\n")
    before = (tmp_path / "kubeconfig").read_text()
    assert muster("hub", "token", "create", "--user", "dana")[0] == 0
    assert (tmp_path / "kubeconfig").read_text() == before
