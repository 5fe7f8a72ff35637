"""Many versions in few words: neighbours are merged into ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution.catalog.bundles import Bundle

_SHOWN = 4  # ranges; of more, the rest is counted


def merged(some: Iterable[Bundle], all_of_them: Iterable[Bundle]) -> str:
    """The versions of some bundles of a package, as ranges among all its versions: `1.0.0 to 1.4.0, 2.0.0`."""
    chosen = {_key(bundle) for bundle in some}
    order = sorted({_key(bundle) for bundle in all_of_them} | chosen)
    runs: list[list[str]] = []
    previous = False
    for key in order:
        inside = key in chosen
        if inside and previous:
            runs[-1].append(key[1])
        elif inside:
            runs.append([key[1]])
        previous = inside
    return _joined([run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs])


def _key(bundle: Bundle) -> tuple[tuple[object, ...], str]:
    version = bundle.version
    return ((1, *version.key) if version is not None else (0,)), bundle.version_text or bundle.name


def _joined(texts: Sequence[str]) -> str:
    if len(texts) > _SHOWN:
        return f"{', '.join(texts[:_SHOWN])} and {len(texts) - _SHOWN} more"
    return ", ".join(texts)


def named(package: str, some: Sequence[Bundle], all_of_them: Sequence[Bundle]) -> str:
    """`every version of p` or `p 1.0.0 to 1.4.0`."""
    if len(all_of_them) > 1 and {bundle.name for bundle in some} >= {bundle.name for bundle in all_of_them}:
        return f"every version of {package}"
    return f"{package} {merged(some, all_of_them)}".rstrip()
