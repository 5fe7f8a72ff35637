"""The image: a layout that crane takes, pushed to a registry and validated there; started from its layers, as another
user, on a root file system that cannot be written."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.differential.building import NoGoError, build
from tests.release.made import FOLDER, needs_release

if TYPE_CHECKING:
    from collections.abc import Iterator

CRANE = "github.com/google/go-containerregistry/cmd/crane"
pytestmark = [needs_release, pytest.mark.timeout(900)]


def blob(digest: str) -> bytes:
    return (Path(FOLDER) / "oci" / "blobs" / digest.replace(":", "/")).read_bytes()


def parts() -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The digest of the manifest, the manifest, the configuration."""
    index = json.loads((Path(FOLDER) / "oci" / "index.json").read_text(encoding="utf-8"))
    digest = index["manifests"][0]["digest"]
    manifest = json.loads(blob(digest))
    return digest, manifest, json.loads(blob(manifest["config"]["digest"]))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layers, unpacked over each other."""
    if os.geteuid() != 0:
        pytest.skip("starting it from its layers takes root: mounts and another user")
    folder = tmp_path_factory.mktemp("root")
    _, manifest, _ = parts()
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(layer["digest"])))) as tar:
            tar.extractall(folder, filter="tar")
    folder.chmod(0o755)
    for parent in folder.parents[:2]:
        parent.chmod(0o755)
    return folder


def command(root: Path, data: Path, *arguments: str) -> list[str]:
    """Within the root file system, which is mounted so that nothing can be written but /tmp and /data."""
    steps = (
        'mount --bind "$0" "$0"',
        'mount -t tmpfs tmpfs "$0/tmp"',
        'mkdir "$0/tmp/data"',
        'mount --bind "$1" "$0/tmp/data"',
        'mount -t proc proc "$0/proc"',
        'mount -o remount,ro,bind "$0"',
        "shift",
        'exec chroot --userspec=65532:65532 "$0" "$@"',
    )
    return [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        " && ".join(steps),
        str(root),
        str(data),
        *arguments,
    ]


def environment() -> dict[str, str]:
    _, _, config = parts()
    return dict(each.split("=", 1) for each in config["config"]["Env"]) | {"HOME": "/tmp"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    os.chown(folder, 65532, 65532)
    return folder


def test_the_image_runs_as_nobody_and_says_what_it_is() -> None:
    _, manifest, config = parts()
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/usr/bin/muster"]
    labels = config["config"]["Labels"]
    assert {"version", "revision", "licenses", "title"} <= {key.rpartition(".")[2] for key in labels}
    assert len(manifest["layers"]) == len(config["rootfs"]["diff_ids"]) == 3


def test_there_is_no_shell_no_package_manager_and_nothing_setuid(root: Path) -> None:
    programs = {path.name for folder in ("usr/bin", "usr/sbin") for path in (root / folder).glob("*")}
    assert programs.isdisjoint({"sh", "bash", "dash", "apt", "dpkg", "perl", "mount", "su"})
    assert [path for path in root.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o6000] == []
    assert str((root / "placement").readlink()) == "usr/bin/muster"


@contextmanager
def registry(crane: Path) -> Iterator[str]:
    with subprocess.Popen(
        [str(crane), "registry", "serve", "--address", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stderr is not None
        line = serving.stderr.readline()
        port = re.search(r"port (\d+)", line) or re.search(r":(\d+)\s*$", line)
        assert port is not None, line
        try:
            yield f"127.0.0.1:{port[1]}"
        finally:
            serving.terminate()


def test_crane_pushes_it_to_a_registry_and_finds_it_valid_there() -> None:
    try:
        crane = build(Path(__file__).parent / "crane", package=CRANE)
    except NoGoError as error:
        pytest.skip(str(error))
    digest, _, _ = parts()
    with registry(crane) as host:
        name = f"{host}/muster:test"
        pushed = subprocess.run(
            [crane, "push", Path(FOLDER) / "oci", name], capture_output=True, text=True, check=False
        )
        assert pushed.returncode == 0, pushed.stderr
        found = subprocess.run([crane, "digest", name], capture_output=True, text=True, check=True).stdout.strip()
        assert found == digest
        valid = subprocess.run([crane, "validate", "--remote", name], capture_output=True, text=True, check=False)
        assert (valid.returncode, "PASS" in valid.stdout + valid.stderr) == (0, True), valid.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_both_names_of_the_command_work_on_a_disk_that_cannot_be_written(root: Path, data: Path) -> None:
    said = subprocess.run(
        command(root, data, "/usr/bin/muster", "cel", "eval", "[1, 2].exists(i, i > 1)"),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout.split()[0]) == (0, "true"), said.stderr
    placement = subprocess.run(
        command(root, data, "/placement", "controller", "--help"),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "kubernetes placement controller" in placement.stdout, placement.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_hub_starts_and_keeps_its_data_where_it_may(
    root: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    arguments = ("hub", "run", "--data", "/tmp/data", "--port", "0", "--no-console")
    with subprocess.Popen(
        command(root, data, "/usr/bin/muster", *arguments),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as hub:
        try:
            kubeconfig = data / "kubeconfig"
            ready = None
            while time.monotonic() - started < 300 and ready is None:
                assert hub.poll() is None, hub.stdout.read() if hub.stdout else ""
                ready = _answer(kubeconfig)
                time.sleep(0.1)
            took = time.monotonic() - started
            assert ready == "ok"
            memory, spent = _memory(hub.pid), _cpu(hub.pid)
        finally:
            for pid in _descendants(hub.pid):
                os.kill(pid, signal.SIGTERM)
            hub.wait(timeout=60)
    with capsys.disabled():
        load = os.getloadavg()[0]
        print(
            f"\nthe hub of the image: ready after {took:.1f} s, {spent:.1f} s of CPU, "
            f"{memory:.0f} MiB in all processes; load {load:.1f}"
        )
    assert (data / "muster.db").stat().st_uid == 65532


def _answer(kubeconfig: Path) -> str | None:
    if not kubeconfig.exists() or shutil.which("kubectl") is None:
        return None
    asked = subprocess.run(
        ["kubectl", "--kubeconfig", kubeconfig, "get", "--raw", "/readyz"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else None


def _descendants(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for each in found:
        children = Path(f"/proc/{each}/task/{each}/children")
        found += [int(child) for child in children.read_text().split()] if children.exists() else []
    return found


def _cpu(pid: int) -> float:
    """Seconds that the processes have computed, and those that they have waited for: starting goes on beside others."""
    ticks = 0
    for each in _descendants(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(") ")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """MiB that the processes have for themselves, and their share of what they have together."""
    total = 0
    for each in _descendants(pid):
        text = Path(f"/proc/{each}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]
    return total / 1024
