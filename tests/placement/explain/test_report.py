"""The page about explanations lists every part of an answer with every field, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from muster.placement.explain.report import PlacementReport

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "explain.md"


def test_every_field_of_an_answer_is_explained() -> None:
    _, found = msgspec.json.schema_components([PlacementReport])
    fields = {name: set(schema["properties"]) for name, schema in found.items() if "properties" in schema}
    sections = re.findall(r"^### (\w+)\n\n\| field \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE)
    explained = {
        name: {field for row in rows.splitlines() for field in re.findall(r"`(\w+)`", row.split("|")[1])}
        for name, rows in sections
    }
    assert explained == fields
