"""`python -m tests.house` writes the three ways into docs/architecture.md."""

from __future__ import annotations

from tests.house.test_ways import PAGE, with_ways

PAGE.write_text(with_ways(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
