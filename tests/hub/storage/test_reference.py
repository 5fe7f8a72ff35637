"""The reference page names every setting with its default, and every error."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest

from muster.errors import StorageError
from muster.hub import storage
from muster.hub.storage import StoreSettings, errors

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "storage.md").read_text()
MIB = 1024 * 1024


def _written(value: object) -> str:
    if isinstance(value, timedelta):
        minutes = value // timedelta(minutes=1)
        if not minutes:
            return f"{value // timedelta(milliseconds=1)} ms"
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    assert isinstance(value, int)
    return f"{value // MIB} MiB" if value % MIB == 0 else str(value)


@pytest.mark.parametrize("setting", fields(StoreSettings), ids=lambda setting: setting.name)
def test_every_setting_is_documented_with_its_default(setting) -> None:  # type: ignore[no-untyped-def] # a Field of any type
    assert f"| `{setting.name}` | {_written(setting.default)} |" in PAGE


def test_every_error_is_documented_exported_and_in_the_tree() -> None:
    raised = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, StorageError) and kind.__module__ == errors.__name__
    }
    assert raised <= set(storage.__all__)
    assert errors.__doc__ is not None
    assert [name for name in raised if name not in errors.__doc__] == []
    families = {"DatabaseRefusedError"}  # raised only as one of its kinds
    assert [name for name in raised - families if f"| `{name}` |" not in PAGE] == []
