"""The named formats of Kubernetes."""

from __future__ import annotations

import pytest

from muster.values.formats import FORMATS


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("dns1123Label", ("a", "a-b", "1a", "x" * 63), ("", "A", "a.b", "-a", "x" * 64)),
        ("dns1123Subdomain", ("a.b", "1"), ("a..b", "A", "x" * 254)),
        ("dns1035Label", ("a-1",), ("1a", "a.b", "", "a" * 64)),
        ("qualifiedName", ("a", "example.com/MyName"), ("a/b/c", "/b", "A/b")),
        ("dns1123LabelPrefix", ("a-", "B-"), ("-", "a.b-c.")),
        ("dns1123SubdomainPrefix", ("a.b-",), ("a..b-",)),
        ("dns1035LabelPrefix", ("abc-",), ("1bc-",)),
        ("labelValue", ("", "a_b.C"), ("_a", "x" * 64)),
        ("uri", ("https://a", "/a"), ("a", "")),
        (
            "uuid",
            ("0b9f1b4e-7f3b-4b4e-8f3b-0b9f1b4e7f3b", "0B9F1B4E7F3B4B4E8F3B0B9F1B4E7F3B"),
            ("x", "0b9f1b4e"),
        ),
        ("byte", ("YWJj", "YWI=", "YQ=="), ("", "YQ=", "é")),
        ("date", ("2026-02-28", "0000-02-29"), ("2026-02-29", "26-1-1", "x")),
        (
            "datetime",
            ("2026-01-01T00:00:00Z", "2026-01-01t23:59:59.5+01:00"),
            ("2026-01-01T24:00:00Z", "2026-01-01", "2026-13-01T00:00:00Z"),
        ),
    ],
)
def test_a_format_takes_the_good_and_says_what_is_wrong_with_the_bad(
    name: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    problems = FORMATS[name].problems
    assert [text for text in (*good, *bad) if not problems(text)] == list(good)
    assert all(isinstance(problem, str) for text in bad for problem in problems(text))


def test_problems_are_told_in_the_words_of_kubernetes() -> None:
    assert FORMATS["dns1035Label"].problems("1") == [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
        "is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    ]
    assert FORMATS["uuid"].problems("x") == ["does not match the UUID format"]
