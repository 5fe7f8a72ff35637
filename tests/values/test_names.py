"""About values/names.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.values.names import (
    config_key_problems,
    dns_label_problems,
    is_plain_key,
    label_value_problems,
    path_segment_problems,
    qualified_name_problems,
    subdomain_problems,
    without_trailing_dash,
)


@pytest.mark.parametrize("value", ["", "a", "1", "MyValue", "a_b.c-d", "a" * 63])
def test_good_label_values_have_no_problems(value: str) -> None:
    assert label_value_problems(value) == []


@pytest.mark.parametrize("value", ["-a", "a-", ".a", "a b", "é", "a\n", "a/b"])
def test_a_bad_label_value_is_told_the_rule(value: str) -> None:
    (problem,) = label_value_problems(value)
    assert problem.startswith("a valid label must be an empty string or consist of alphanumeric characters")


def test_lengths_count_bytes() -> None:
    assert label_value_problems("é" * 32)[0] == "must be no more than 63 bytes"
    assert label_value_problems("a" * 64) == ["must be no more than 63 bytes"]


def test_dns_names_say_characters_where_labels_say_bytes() -> None:
    assert dns_label_problems("a" * 64) == ["must be no more than 63 characters"]
    assert subdomain_problems("a" * 254) == ["must be no more than 253 characters"]
    assert qualified_name_problems("a" * 254 + "/b") == ["prefix part must be no more than 253 bytes"]


def test_a_key_has_at_most_one_slash_and_two_non_empty_parts() -> None:
    assert qualified_name_problems("example.com/name") == []
    assert qualified_name_problems("/name") == ["prefix part must be non-empty"]
    assert qualified_name_problems("a/")[0] == "name part must be non-empty"
    assert qualified_name_problems("a/b/c")[0].endswith("prefix and '/' (e.g. 'example.com/MyName')")


def test_a_dotted_namespace_is_told_about_the_dots() -> None:
    assert dns_label_problems("a.b") == ["must not contain dots"]


def test_role_names_only_have_to_fit_into_a_path() -> None:
    assert path_segment_problems("system:Admin role") == []
    assert path_segment_problems("..") == ["may not be '..'"]
    assert path_segment_problems("a/b%c") == ["may not contain '/'", "may not contain '%'"]


def test_config_keys_cannot_leave_their_directory() -> None:
    assert config_key_problems("a.b-C_1") == []
    assert config_key_problems("..") == ["must not be '..'"]
    assert config_key_problems("..a") == ["must not start with '..'"]
    assert config_key_problems("a/b")[0].startswith("a valid config key must consist of")


def test_a_dash_at_the_end_of_a_generated_prefix_does_not_count() -> None:
    assert subdomain_problems(without_trailing_dash("cluster-")) == []
    assert subdomain_problems(without_trailing_dash("-")) != []


@settings(deadline=None)
@given(st.text(max_size=80))
def test_the_quick_answer_on_keys_never_accepts_a_bad_one(key: str) -> None:
    if is_plain_key(key):
        assert qualified_name_problems(key) == []
