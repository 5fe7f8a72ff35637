"""What queries give: a table, run by generated code and by the plain evaluator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.errors import EvaluationError
from muster.jq import compile_query, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("queries.yaml").read_text(encoding="utf-8"))


def outcome(outputs: Iterator[Any]) -> tuple[list[str], str | None]:
    """Outputs as JSON, and the error that ended them."""
    found: list[str] = []
    try:
        for output in outputs:
            found.append(to_json(output))  # noqa: PERF401 - what came before an error counts
    except EvaluationError as error:
        return found, str(error)
    return found, None


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_generated_code_gives_what_the_table_says(row: dict[str, Any]) -> None:
    program = compile_query(row["query"])
    assert program.code is not None
    assert outcome(program.outputs(from_json(row["input"]))) == (row["outputs"], row.get("error"))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_the_plain_evaluator_gives_what_the_table_says(row: dict[str, Any]) -> None:
    program = compile_query(row["query"])
    assert outcome(program.reference_outputs(from_json(row["input"]))) == (row["outputs"], row.get("error"))
