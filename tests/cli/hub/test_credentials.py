"""`muster hub token` and `muster hub certificate`, without a hub."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


def muster(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(["hub", *args], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def hub_kubeconfig(directory: Path) -> None:
    cluster = {"server": "https://127.0.0.1:1234", "certificate-authority-data": "QQ=="}
    config = {"clusters": [{"name": "muster", "cluster": cluster}], "users": []}
    (directory / "kubeconfig").write_bytes(msgspec.yaml.encode(config))


def test_a_token_is_printed_once_and_listed_without_itself(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    args = ("--user", "alice", "--group", "devs", "--group", "ops", "--expires", "24h")
    code, made, said = muster("token", "create", *args, *data)
    name = made.split("-")[1]
    assert (code, said.startswith(f"token {name} of alice, until 2")) == (0, True)
    code, listed, _ = muster("token", "list", *data)
    lines = [line.split() for line in listed.splitlines()]
    assert (code, lines[0], lines[1][:3]) == (
        0,
        ["ID", "USER", "GROUPS", "CREATED", "EXPIRES"],
        [name, "alice", "devs,ops"],
    )
    code, listed, _ = muster("token", "list", "-o", "json", *data)
    assert [each["groups"] for each in json.loads(listed)] == [["devs", "ops"]]
    assert made.strip() not in listed


def test_revoking_says_what_it_did_not_find(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))
    name = muster("token", "create", "--user", "alice", *data)[1].split("-")[1]
    assert muster("token", "revoke", name, "nothere", *data) == (
        1,
        f"revoked token {name} of alice\n",
        "muster: there is no token nothere\n",
    )
    assert muster("token", "list", "-o", "json", *data)[1] == "[]\n"


def test_a_kubeconfig_is_written_for_its_owner_only(tmp_path: Path) -> None:
    hub_kubeconfig(tmp_path)
    file = tmp_path / "alice.yaml"
    args = ("--user", "alice", "--kubeconfig", str(file), "--server", "https://hub:6443", "--data", str(tmp_path))
    assert muster("token", "create", *args)[:2] == (0, f"export KUBECONFIG={file}\n")
    config = msgspec.yaml.decode(file.read_bytes())
    assert config["clusters"][0]["cluster"]["server"] == "https://hub:6443"
    assert config["users"][0]["user"]["token"].startswith("muster-")
    assert file.stat().st_mode & 0o777 == 0o600
    assert muster("certificate", "create", *args, "--expires", "7d")[0] == 0
    assert set(msgspec.yaml.decode(file.read_bytes())["users"][0]["user"]) == {
        "client-certificate-data",
        "client-key-data",
    }


@pytest.mark.parametrize(
    "args",
    [
        ("token", "create", "--user", "alice", "--expires", "tomorrow"),
        ("token", "create", "--user", ""),
        ("token", "create", "--user", "alice", "--expires", "0h"),
        ("token", "create", "--user", "alice", "--expires", "99999999d"),
        ("token", "create", "--user", "alice", "--kubeconfig", "x"),
        ("certificate", "create", "--user", "alice", "--kubeconfig", "x"),
    ],
)
def test_what_cannot_be_meant_is_bad_input_and_leaves_no_token(tmp_path: Path, args: tuple[str, ...]) -> None:
    assert muster(*args, "--data", str(tmp_path))[0] == 2
    assert not (tmp_path / "tokens.json").exists()
