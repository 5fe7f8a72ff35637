"""Which hub a command means: the one named, that of $KUBECONFIG, that in the working directory, the user's own."""

from __future__ import annotations

import fcntl
import io
import os
import threading
from pathlib import Path

import pytest

from muster.cli.hub import directory as hub_directory
from muster.cli.main import run
from muster.errors import InvalidObjectError
from tests.controllers.processes import hub_process


def muster(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(["hub", *args], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def _hub(directory: Path) -> Path:
    directory.mkdir(parents=True)
    (directory / "muster.db").touch()
    return directory


def test_the_nearest_hub_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert hub_directory.chosen(None) == tmp_path / "home" / "muster"
    _hub(tmp_path / ".muster")
    assert hub_directory.chosen(None) == Path(".muster")
    other = _hub(tmp_path / "other")
    monkeypatch.setenv("KUBECONFIG", str(other / "kubeconfig"))
    assert hub_directory.chosen(None) == other
    assert hub_directory.chosen(tmp_path / "named") == tmp_path / "named"


def test_a_kubeconfig_that_is_not_a_hubs_means_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kube" / "config"))
    assert hub_directory.chosen(None) == tmp_path / "home" / "muster"


def test_a_token_says_whose_hub_it_is_for_unless_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = _hub(tmp_path / "hub")
    monkeypatch.setenv("KUBECONFIG", str(directory / "kubeconfig"))
    assert f"the hub in {directory}, which is not running\n" in muster("token", "create", "--user", "a")[2]
    assert "the hub in" not in muster("token", "create", "--user", "a", "--data", str(directory))[2]


def test_one_hub_at_a_time_runs_in_a_directory(tmp_path: Path) -> None:
    with hub_directory.running(tmp_path):
        assert hub_directory.process(tmp_path) is not None
        with (
            pytest.raises(InvalidObjectError, match=r"a hub runs in .* already, process"),
            hub_directory.running(tmp_path),
        ):
            pass
    assert hub_directory.process(tmp_path) is None


def test_whoever_asks_whether_a_hub_runs_does_not_keep_one_from_starting(tmp_path: Path) -> None:
    with hub_directory.running(tmp_path):
        pass
    descriptor = os.open(tmp_path / "hub.running", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    asked = threading.Timer(0.05, os.close, [descriptor])
    asked.start()
    with hub_directory.running(tmp_path):
        assert hub_directory.process(tmp_path) == os.getpid()
    asked.join()


@pytest.mark.parametrize("command", ["run", "serve"])
def test_stop_ends_a_running_hub_and_waits_for_it(tmp_path: Path, command: str) -> None:
    with hub_process(tmp_path, command=command) as hub:
        code, said, _ = muster("stop", "--data", str(tmp_path))
        assert (code, said) == (0, f"stopped the hub in {tmp_path}; everything acknowledged is on disk\n")
        assert hub.process.wait(30) == 0
    assert muster("stop", "--data", str(tmp_path))[:2] == (1, f"no hub runs in {tmp_path}\n")
