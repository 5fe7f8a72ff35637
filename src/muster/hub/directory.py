"""The directory of a hub: where it is by default, and what its files are called. For `app` and the commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

DATABASE: Final = "muster.db"
KUBECONFIG: Final = "kubeconfig"
CONTROLLERS_KUBECONFIG: Final = "controllers.kubeconfig"


def default_directory() -> Path:
    """Where a hub keeps its state unless told otherwise."""
    home = os.environ.get("XDG_DATA_HOME", "")
    return Path(home or "~/.local/share").expanduser() / "muster"
