"""Query parameters."""

from __future__ import annotations

import pytest

from muster.hub.requests import DeleteOptions, ListOptions, WriteOptions
from muster.hub.rest import query as queries
from muster.hub.status import StatusError


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"", None),
        (b"watch", True),
        (b"watch=", True),
        (b"watch=1", True),
        (b"watch=true", True),
        (b"watch=True", True),
        (b"watch=0", False),
        (b"watch=false", False),
        (b"watch=False", False),
    ],
)
def test_flags_are_read_leniently(raw: bytes, value: bool | None) -> None:
    assert queries.flag(queries.parse_query(raw), "watch") is value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ("1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        ("-", 'strconv.ParseInt: parsing "-": invalid syntax'),
        ("99999999999999999999", 'strconv.ParseInt: parsing "99999999999999999999": value out of range'),
    ],
)
def test_numbers_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        queries.list_options(queries.parse_query(f"limit={text}".encode()))
    assert (caught.value.code, caught.value.message) == (400, message)


def test_options_keep_what_the_client_wrote() -> None:
    query = queries.parse_query(
        b"labelSelector=a%3Db%2Cc&limit=-1&continue=x&resourceVersion=7&resourceVersionMatch=Exact"
        b"&dryRun=All&dryRun=foo&fieldManager=m&fieldValidation=Bogus&force=true&propagationPolicy=&gracePeriodSeconds=0"
    )
    assert queries.list_options(query) == ListOptions(
        label_selector="a=b,c", limit=-1, continue_token="x", resource_version="7", resource_version_match="Exact"
    )
    assert queries.write_options(query, "ua") == WriteOptions(("All", "foo"), "m", "Bogus", True, "ua")
    assert queries.delete_options(query) == DeleteOptions(("All", "foo"), 0, "")


def test_a_query_of_too_many_parameters_is_refused() -> None:
    with pytest.raises(StatusError, match="the query cannot be read"):
        queries.parse_query(b"&".join(b"a=1" for _ in range(200)))
