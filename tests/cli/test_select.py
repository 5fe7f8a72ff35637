"""`muster select` over files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import msgspec
import pytest

from muster.cli.main import run
from tests.builders import a_cluster, a_placement

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    path = tmp_path / "fleet.json"
    clusters = [a_cluster(name, {"cloud": cloud}) for name, cloud in (("a", "Amazon"), ("b", "Azure"))]
    path.write_bytes(b"".join(msgspec.json.encode(cluster) + b"\n" for cluster in clusters))
    return str(path)


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(["select", *args], io.StringIO(), out, err), out.getvalue(), err.getvalue()


def test_names_come_out_and_the_exit_code_says_whether_there_are_any(fleet: str) -> None:
    expression = "managedCluster.metadata.labels.cloud == '{}'"
    assert called(expression.format("Amazon"), "--fleet", fleet) == (0, "a\n", "")
    assert called("-l", "cloud=Azure", "--fleet", fleet) == (0, "b\n", "")
    assert called(expression.format("Google"), "--fleet", fleet) == (1, "", "")


def test_why_prints_the_reason_for_one_cluster(fleet: str, tmp_path: Path) -> None:
    placement = tmp_path / "placement.yaml"
    placement.write_bytes(msgspec.yaml.encode(a_placement(numberOfClusters=1)))
    assert called("-f", str(placement), "--fleet", fleet) == (0, "a\n", "")
    assert called("-f", str(placement), "--fleet", fleet, "--why", "b") == (
        1,
        "b: no: it fits, but 1 of 2 fitting clusters are wanted; its score is 100, 0 clusters have more\n",
        "",
    )
    code, _, err = called("-f", str(placement), "--fleet", fleet, "--why", "zzz")
    assert (code, err) == (2, "muster: there is no object 'zzz' in the fleet\n")


def test_bad_expressions_show_line_and_caret(fleet: str) -> None:
    assert called("1 +", "--fleet", fleet)[0] == 2
    code, out, err = called("nope", "--fleet", fleet)
    assert (code, out) == (2, "")
    assert err.splitlines()[1:] == [" | nope", " | ^"]


def test_nothing_to_select_by_is_bad_input(fleet: str) -> None:
    assert called("--fleet", fleet) == (
        2,
        "",
        "muster: say what to select: a CEL expression, -l LABELS, or -f FILE\n",
    )
