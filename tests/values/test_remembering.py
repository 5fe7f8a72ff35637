"""Short texts are remembered, long ones are not."""

from __future__ import annotations

from muster.values.remembering import remembered


def test_short_texts_are_read_once_and_long_ones_never_kept() -> None:
    read: list[str] = []

    @remembered(2, longest=5)
    def parse(text: str) -> str:
        read.append(text)
        return text.upper()

    for text in ("a", "a", "long text", "long text", "b", "c", "a"):
        assert parse(text) == text.upper()
    assert read == ["a", "long text", "long text", "b", "c", "a"]
