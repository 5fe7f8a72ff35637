"""Many versions as few ranges: neighbours are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.reasons import Parameter
    from muster.resolution.catalog.bundles import Bundle


def merged(some: Iterable[Bundle], all_of_them: Iterable[Bundle]) -> tuple[str, ...]:
    """The versions of some bundles of a package, as ranges among all its versions: `1.0.0 to 1.4.0`, `2.0.0`."""
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
    return tuple(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _key(bundle: Bundle) -> tuple[tuple[object, ...], str]:
    version = bundle.version
    text = bundle.version_text or bundle.name
    return ((1, *version.key) if version is not None else (0,)), text


def named(some: Sequence[Bundle], all_of_them: Sequence[Bundle]) -> dict[str, Parameter]:
    """What a reason says of versions of a package: which they are, and whether there are no others."""
    found: dict[str, Parameter] = {"versions": merged(some, all_of_them)}
    if len(all_of_them) > 1 and {bundle.name for bundle in some} >= {bundle.name for bundle in all_of_them}:
        found["every"] = True
    return found
