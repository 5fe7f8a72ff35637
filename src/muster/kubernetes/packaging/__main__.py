"""Writes charts/muster and kustomize below a directory: `python -m muster.kubernetes.packaging .` in the clone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.kubernetes.packaging.chart import chart
from muster.kubernetes.packaging.kustomizations import kustomizations

if TYPE_CHECKING:
    from collections.abc import Mapping


def packages() -> dict[str, Mapping[str, str]]:
    """The files of each folder."""
    return {"charts/muster": chart(), "kustomize": kustomizations()}


def write(root: Path) -> None:
    """Write all files, and remove those that were written once and are no longer."""
    for folder, files in packages().items():
        for old in [each for each in (root / folder).rglob("*") if each.is_file()]:
            if str(old.relative_to(root / folder)) not in files:
                old.unlink()
        for name, text in files.items():
            path = root / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
