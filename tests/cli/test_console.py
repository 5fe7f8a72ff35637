"""`muster console`: what it refuses before it listens."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


def muster(*arguments: str) -> tuple[int, str]:
    errors = io.StringIO()
    code = run(["console", "--no-open", *arguments], io.StringIO(), io.StringIO(), errors)
    return code, errors.getvalue()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::"])
def test_only_loopback_is_served_without_a_login(host: str) -> None:
    code, said = muster("--host", host)
    assert (code, "only loopback is served without --behind-ingress" in said) == (2, True)


@pytest.mark.parametrize("url", ["http://fleet.example.com", "fleet.example.com", "https://", "https://a.example/path"])
def test_an_ingress_has_an_https_url_without_a_path(url: str) -> None:
    code, said = muster("--behind-ingress", url)
    assert (code, "https://NAME" in said) == (2, True)


def test_a_session_key_is_long_and_there(tmp_path: Path) -> None:
    short = tmp_path / "key"
    short.write_text("short")
    assert "fewer than 32 characters" in muster("--session-key", str(short))[1]
    assert "cannot be read" in muster("--session-key", str(tmp_path / "none"))[1]


def test_a_kubeconfig_that_is_not_there_is_told(tmp_path: Path) -> None:
    code, said = muster("--kubeconfig", str(tmp_path / "none"))
    assert code != 0
    assert "kubeconfig" in said
