"""The hub's certificates."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.certificates import CertificateError, serving_certificate

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_a_second_start_finds_the_first_ones_certificate(tmp_path: Path) -> None:
    first = serving_certificate(tmp_path, NOW)
    content = first.certificate.read_bytes()
    second = serving_certificate(tmp_path, NOW + timedelta(days=100))
    assert (second, second.certificate.read_bytes()) == (first, content)
    assert stat.S_IMODE(first.key.stat().st_mode) == 0o600


@pytest.mark.parametrize("days", [340, 1000])
def test_near_the_end_of_its_life_a_certificate_is_replaced_by_one_of_the_same_authority(
    tmp_path: Path, days: int
) -> None:
    first = serving_certificate(tmp_path, NOW)
    content = first.certificate.read_bytes()
    second = serving_certificate(tmp_path, NOW + timedelta(days=days))
    assert second.certificate.read_bytes() != content
    assert second.authority == first.authority


def test_an_authority_near_its_end_is_replaced(tmp_path: Path) -> None:
    first = serving_certificate(tmp_path, NOW)
    assert serving_certificate(tmp_path, NOW + timedelta(days=3640)).authority != first.authority


def test_a_file_that_is_no_certificate_is_refused_with_what_to_do(tmp_path: Path) -> None:
    serving_certificate(tmp_path, NOW).certificate.write_text("nothing")
    with pytest.raises(CertificateError, match="to have new ones made"):
        serving_certificate(tmp_path, NOW)
