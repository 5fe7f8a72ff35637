"""Paths into clusters: the names of places that selectors read, and what expressions see there.

`project` is the contract between selectors and the fleet: a selector gives the same verdict on two objects whose
projections on all of its `reads` are equal, as far as the verdict's `up_to` goes (see match.py). What no selector can
tell apart should be equal, so that nobody is woken for nothing: a list of taints with nothing in it is none. The paths
themselves are those of values/paths.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values import paths
from muster.values.paths import WHOLE, Aspect, Key, Path, Where

if TYPE_CHECKING:
    from collections.abc import Hashable

    from muster.values.json import Json

__all__ = ["WHOLE", "Path", "claim_path", "describe", "key_path", "label_path", "project", "score_path"]

LABELS: Final = "labels"
SCORES: Final = "@scores"

# With nothing in them these are not there: expressions do not see them, and nobody else finds anything in them.
GONE_WHEN_EMPTY: Final[frozenset[Path]] = frozenset(
    {
        ("metadata", LABELS),
        ("metadata", "annotations"),
        ("metadata", "finalizers"),
        ("metadata", "ownerReferences"),
        ("spec", "taints"),
        ("spec", "managedClusterClientConfigs"),
        ("spec", "leaseDurationSeconds"),
        ("status", "clusterClaims"),
        ("status", "capacity"),
        ("status", "allocatable"),
        ("status", "version", "kubernetes"),
    }
)


def key_path(*keys: str) -> Path:
    return keys


def label_path(key: str) -> Path:
    return ("metadata", LABELS, key)


def claim_path(name: str) -> Path:
    return ("status", "clusterClaims", Where("name", name))


def score_path(name: str) -> Path:
    """The scores that one add-on reports for the object; they are not part of it."""
    return (SCORES, name)


ALL_SCORES: Final[Path] = (SCORES,)  # for an expression that computes the name


def describe(path: Path) -> str:
    """`metadata.labels["version"]`, as people write it."""
    text = ""
    for step in path:
        match step:
            case Aspect():
                text += f" ({step.value})"
            case Where(field, value):
                text += f"[{field}={value}]"
            case str() if step.isidentifier():
                text += f".{step}" if text else step
            case str():
                text += f'["{step}"]'
            case Key(_, value):
                text += f"[{str(value).lower()}]"
            case _:
                text += f"[{step}]"
    return text or "the whole object"


def project(obj: Json, path: Path) -> Hashable:
    """What is at the path of a cluster, as expressions see it."""
    return paths.project(obj, path, GONE_WHEN_EMPTY)
