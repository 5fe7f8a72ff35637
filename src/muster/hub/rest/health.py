"""/healthz, /livez, /readyz and /version: what a load balancer and a curious person may ask without credentials.

A check is a name and a function that says what is wrong, or nothing. `app` adds its own checks.
"""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

from muster import __version__
from muster.hub.rest.answers import Reply, text_reply
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.hub.rest.query import Query

    Checks = Mapping[str, Callable[[], str | None]]

# The Kubernetes release whose behaviour the hub follows; clients compare it with their own.
KUBERNETES_MINOR = 36
PATHS = ("/healthz", "/livez", "/readyz")


def version() -> JsonObject:
    """The answer of /version."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": "1",
        "minor": str(KUBERNETES_MINOR),
        "emulationMajor": "1",
        "emulationMinor": str(KUBERNETES_MINOR),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(KUBERNETES_MINOR - 1),
        "gitVersion": f"v1.{KUBERNETES_MINOR}.0+muster-{__version__}",
        "gitCommit": "unknown",
        "gitTreeState": "archive",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{machine}",
    }


def health_reply(path: str, checks: Checks, query: Query) -> Reply | None:
    """The answer of a health path or of one check below it; None when there is no such check."""
    base, _, only = path.lstrip("/").partition("/")
    if only and only not in checks:
        return None
    excluded = set(query.get("exclude", ()))
    lines: list[str] = []
    failed: list[str] = []
    for name, check in checks.items():
        if only and name != only:
            continue
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok")
            continue
        problem = check()
        if problem is None:
            lines.append(f"[+]{name} ok")
        else:
            failed.append(name)
            lines.append(f"[-]{name} failed: {problem}")
    if failed:
        return text_reply(500, "\n".join([*lines, f"{base} check failed", ""]))
    if "verbose" in query and not only:
        return text_reply(200, "\n".join([*lines, f"{base} check passed", ""]))
    return text_reply(200, "ok")
