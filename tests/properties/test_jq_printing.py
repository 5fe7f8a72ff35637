"""parse(print(query)) is the query, and printing twice changes nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from muster.jq.syntax.parser import parse
from muster.jq.syntax.printer import print_query
from muster.source import Source
from tests.jq.strategies import queries


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=queries())
def test_a_printed_query_reads_back_as_itself(text: str) -> None:
    body = parse(Source(text)).body
    printed = print_query(body)
    assert parse(Source(printed)).body == body
    assert print_query(parse(Source(printed)).body) == printed
