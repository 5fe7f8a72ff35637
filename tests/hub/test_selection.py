"""Selectors made ready for large collections answer as the selectors they are made from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from muster.hub.selection import LabelTest
from muster.values.labels import parse_selector

KEYS = some.sampled_from(["a", "b", "c", "d"])
VALUES = some.sampled_from(["1", "2", "x", ""])
REQUIREMENTS = some.one_of(
    KEYS,
    KEYS.map("!{}".format),
    some.builds("{}={}".format, KEYS, VALUES),
    some.builds("{}!={}".format, KEYS, VALUES),
    some.builds("{} in ({})".format, KEYS, some.lists(VALUES, min_size=1, max_size=3).map(",".join)),
    some.builds("{} notin ({})".format, KEYS, some.lists(VALUES, min_size=1, max_size=3).map(",".join)),
    some.builds("{}>1".format, KEYS),
    some.builds("{}<2".format, KEYS),
)


@settings(max_examples=200)
@given(some.lists(REQUIREMENTS, max_size=5).map(",".join), some.dictionaries(KEYS, VALUES))
def test_a_label_test_says_what_its_selector_says(text: str, labels: dict[str, str]) -> None:
    selector = parse_selector(text)
    assert LabelTest(selector).matches(labels) == selector.matches(labels)
