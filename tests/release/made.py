"""What `make release` has made, for tests that try it: in the folder that MUSTER_RELEASE names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("MUSTER_RELEASE", "")
needs_release = pytest.mark.skipif(
    not FOLDER, reason="MUSTER_RELEASE names no folder with a release: make test-release"
)


def one(pattern: str) -> Path:
    """The one file of a release that is called so."""
    (found,) = Path(FOLDER).resolve().glob(pattern)
    return found
