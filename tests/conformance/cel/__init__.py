"""The recorded CEL cases: which runner replays which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.cel import costs, evaluation, parsing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conformance.results import Runner

FILES: Mapping[str, Runner] = {
    **evaluation.FILES,
    **costs.FILES,
    "bufbuild_parsing.json": parsing.run_parsing,
    "bufbuild_comprehension.json": parsing.run_parsing,
    "bufbuild_checking.json": parsing.run_checking,
}
GOALS = {"texts": 0.95, "costs": 0.98}
