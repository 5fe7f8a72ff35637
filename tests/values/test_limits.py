"""Limits as data: read, shown and named as people write them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from muster.values.limits import InvalidLimitError, Unit, limit, limits_of, named, shown


@dataclass(frozen=True)
class Settings:
    cups: int = limit(3, "cups per guest", "Cups.", "no more tea")
    size: int = limit(2048, "cup bytes", "Size.", "it spills", Unit.BYTES, least=10)
    patience: float = limit(90.0, "patience", "Time.", "they leave", Unit.SECONDS, least=0)
    other: str = "not a limit"


CUPS, SIZE, PATIENCE = limits_of(Settings)


def test_marked_fields_are_limits_and_keep_their_defaults() -> None:
    assert (CUPS.option, CUPS.attribute, CUPS.default, CUPS.meaning) == ("--cups-per-guest", "cups", 3, "Cups.")
    assert Settings().size == 2048


@pytest.mark.parametrize(
    ("which", "text", "value"),
    [
        (CUPS, "12", 12),
        (SIZE, "100", 100),
        (SIZE, "3Ki", 3072),
        (SIZE, "2Mi", 2 * 1024 * 1024),
        (SIZE, "5M", 5_000_000),
        (PATIENCE, "90", 90),
        (PATIENCE, "0", 0),
        (PATIENCE, "1h30m", 5400),
        (PATIENCE, "500ms", 0.5),
        (PATIENCE, "1.5s", 1.5),
    ],
)
def test_values_are_read_as_people_write_them(which, text: str, value: float) -> None:  # type: ignore[no-untyped-def]
    assert which.read(text) == value


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (CUPS, "-1"),
        (CUPS, "many"),
        (CUPS, "1e3"),
        (CUPS, "0"),
        (SIZE, "3KiB"),
        (SIZE, "9"),
        (PATIENCE, "1y"),
        (CUPS, "٣"),
    ],
)
def test_what_is_no_value_is_refused(which, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidLimitError):
        which.read(text)


def test_what_is_shown_is_read_as_the_same() -> None:
    assert [shown(SIZE.default, SIZE.unit), shown(5400, Unit.SECONDS), shown(0.5, Unit.SECONDS)] == [
        "2Ki",
        "90m",
        "0.5s",
    ]
    for value in (10, 1000, 1024, 3 * 1024**3, 1500):
        assert SIZE.read(shown(value, Unit.BYTES)) == value
    for seconds in (0, 0.25, 1, 60, 61, 3600, 86400):
        assert PATIENCE.read(shown(seconds, Unit.SECONDS)) == seconds


def test_a_refusal_names_setting_and_option() -> None:
    assert named("objects per kind") == "setting objectsPerKind, option --objects-per-kind"
