"""What the tests of `muster explain` and `muster lint` share: a small fleet in a file, and the command itself."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement, a_set

if TYPE_CHECKING:
    from pathlib import Path


def amazon(**spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}
    return a_placement("p1", predicates=[{"requiredClusterSelector": selector}], **spec)


def written(path: Path, *objects: dict[str, Any]) -> str:
    path.write_bytes(b"".join(msgspec.json.encode(obj) + b"\n" for obj in objects))
    return str(path)


def a_fleet_file(directory: Path) -> str:
    clusters = [a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})]
    return written(directory / "fleet.json", a_set("global"), a_binding("global"), *clusters, amazon())


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(args, io.StringIO(), out, err), out.getvalue(), err.getvalue()
