"""What was asked of an API server, from its own audit log: who counts requests or looks at writes reads it there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.values.json import JsonObject


def audited(folder: Path, level: str = "Metadata") -> list[str]:
    """Options of an API server that make it write down every request; with bodies at the level `Request`."""
    rules = [{"level": "None", "users": ["system:apiserver"]}, {"level": level, "omitStages": ["RequestReceived"]}]
    path = folder / "audit-policy.json"
    path.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}))
    # One file, whatever its size: who reads it must find everything in it.
    return [f"--audit-policy-file={path}", f"--audit-log-path={folder / 'audit.log'}", "--audit-log-maxsize=100000"]


def written_so_far(folder: Path) -> int:
    return (folder / "audit.log").stat().st_size


def entries(folder: Path, user: str, since: int = 0) -> Iterator[JsonObject]:
    """What somebody has asked since then, one entry for each request that has been answered."""
    with (folder / "audit.log").open("rb") as log:
        log.seek(since)
        for line in log:
            entry: JsonObject = json.loads(line)
            if entry["user"]["username"] == user and entry["stage"] == "ResponseComplete":
                yield entry


def about(entry: JsonObject) -> str:
    """Such as `patch placements/status`."""
    ref = entry.get("objectRef", {})
    part = f"/{ref['subresource']}" if "subresource" in ref else ""
    return f"{entry['verb']} {ref.get('resource', entry['requestURI'])}{part}"
