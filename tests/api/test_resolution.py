"""The structs of a Resolution: blobs that are written into one, and what is written even when it is empty."""

from __future__ import annotations

import msgspec
import pytest

from muster.api.resolution import CatalogSource, ResolutionStatus


@pytest.mark.parametrize(
    ("inline", "blobs"),
    [
        (b"", []),
        (b"null", []),
        (b'{"schema": "olm.package"}', []),
        (b'[{"schema": "olm.package"}, 7]', [{"schema": "olm.package"}, 7]),
        (b"[" * 100_000 + b"]" * 100_000, []),
    ],
    ids=["none", "null", "one", "several", "deep"],
)
def test_whatever_stands_for_blobs_gives_a_list(inline: bytes, blobs: list[object]) -> None:
    source = CatalogSource("c", inline=msgspec.Raw(inline))
    assert source.blobs() == blobs
    assert source.is_inline is (inline not in (b"", b"null"))


def test_how_many_are_planned_is_written_even_when_there_are_none() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ResolutionStatus())) == {"message": "", "planned": 0}
