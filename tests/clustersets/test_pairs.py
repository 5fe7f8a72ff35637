"""The pairs of exclusive key and set name that a ConfigMap allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.clustersets.pairs import PairRules
from muster.selectors.membership import DEFAULT_KEY, SETS

WHAT = "ConfigMap open-cluster-management-hub/clusterset-validation"
SPEC = {"region": "apac, us", "vendor": "aws, gcp"}


def rules_of(data: Any) -> PairRules:
    return PairRules.parse({"kind": "ConfigMap", "data": data})


def a_set(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("key", "name", "refusal"),
    [
        ("region", "apac", None),
        ("region", "us", None),
        ("team", "blue", None),
        ("vendor", "default", None),
        ("vendor", "global", None),
        (
            "vendor",
            "apac",
            f"{WHAT} does not allow vendor=apac: exclusiveKey 'vendor' allows only the names aws, gcp; "
            "the name 'apac' goes only with exclusiveKey region",
        ),
        (
            "region",
            "emea",
            f"{WHAT} does not allow region=emea: exclusiveKey 'region' allows only the names apac, us",
        ),
        (
            "team",
            "aws",
            f"{WHAT} does not allow team=aws: the name 'aws' goes only with exclusiveKey vendor",
        ),
        (
            DEFAULT_KEY,
            "aws",
            f"{WHAT} does not allow {DEFAULT_KEY}=aws: the name 'aws' goes only with exclusiveKey vendor",
        ),
    ],
)
def test_a_listed_key_or_name_must_be_a_whole_pair(key: str, name: str, refusal: str | None) -> None:
    assert rules_of(SPEC).refusal(key, name) == refusal


@pytest.mark.parametrize("config_map", [None, {}, {"data": None}, {"data": {}}])
def test_without_pairs_everything_is_allowed(config_map: dict[str, Any] | None) -> None:
    assert PairRules.parse(config_map).refusal("vendor", "apac") is None


@pytest.mark.parametrize("text", ["", " , ,", "\n"])
def test_a_key_with_an_empty_list_allows_no_name(text: str) -> None:
    rules = rules_of({"region": text})
    assert rules.refusal("region", "apac") == f"{WHAT} does not allow region=apac: exclusiveKey 'region' allows no name"
    assert rules.refusal("vendor", "apac") is None


def test_lists_are_trimmed_and_duplicates_are_harmless() -> None:
    rules = rules_of({"region": " apac ,us,,\n apac,"})
    assert (rules.names, rules.keys) == ({"region": ("apac", "us")}, {"apac": ("region",), "us": ("region",)})


def test_a_name_under_two_keys_goes_with_either() -> None:
    rules = rules_of({"region": "apac", "zone": "apac"})
    assert rules.refusal("zone", "apac") is None
    assert rules.refusal("team", "apac") == (
        f"{WHAT} does not allow team=apac: the name 'apac' goes only with exclusiveKey region or zone"
    )


def test_keys_with_a_slash_are_listed_in_a_structured_entry() -> None:
    text = f"example.com/tier: [gold,'',no,1]\n{DEFAULT_KEY}: dev, prod\nregion:\n- eu\nexample.com/tier: [silver]\n"
    rules = rules_of({"region": "apac", "pairs.yaml": text})
    assert rules == PairRules(
        {"region": ("apac", "eu"), "example.com/tier": ("gold", "no", "1", "silver"), DEFAULT_KEY: ("dev", "prod")},
        {
            "apac": ("region",),
            "eu": ("region",),
            "gold": ("example.com/tier",),
            "no": ("example.com/tier",),
            "1": ("example.com/tier",),
            "silver": ("example.com/tier",),
            "dev": (DEFAULT_KEY,),
            "prod": (DEFAULT_KEY,),
        },
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}"])
def test_an_empty_structured_entry_is_no_pair(text: str) -> None:
    assert rules_of({"pairs.yaml": text}) == PairRules()


@pytest.mark.parametrize(
    ("config_map", "problem"),
    [
        ({"data": ["region"]}, "data is not a mapping"),
        ({"data": {"region": 1}}, "data[region] is not text"),
        ({"binaryData": {"region": "YXBhYw=="}}, "binaryData is not read; write the pairs as text into data"),
        (
            {"data": {"region": "apac us"}},
            "data[region]: 'apac us' cannot be the name of a set; commas separate names",
        ),
        ({"data": {"region": "APAC"}}, "data[region]: 'APAC' cannot be the name of a set; commas separate names"),
        (
            {"data": {"pairs.yaml": "a: [b"}},
            "data[pairs.yaml] line 2: not valid YAML: did not find expected ',' or ']'",
        ),
        (
            {"data": {"pairs.yaml": "- a"}},
            "data[pairs.yaml] line 1: expected one mapping of keys to lists of names, without anchors",
        ),
        (
            {"data": {"pairs.yaml": "a: b\n---\na: c"}},
            "data[pairs.yaml] line 3: expected one mapping of keys to lists of names, without anchors",
        ),
        (
            {"data": {"pairs.yaml": "a: &x [b]\nc: *x"}},
            "data[pairs.yaml] line 2: expected one mapping of keys to lists of names, without anchors",
        ),
        (
            {"data": {"pairs.yaml": "a:\n  b: c"}},
            "data[pairs.yaml] line 2: expected one mapping of keys to lists of names, without anchors",
        ),
        (
            {"data": {"pairs.yaml": "[a]: b"}},
            "data[pairs.yaml] line 1: expected one mapping of keys to lists of names, without anchors",
        ),
        (
            {"data": {"pairs.yaml": "a: [[b]]"}},
            "data[pairs.yaml] line 1: expected one mapping of keys to lists of names, without anchors",
        ),
    ],
)
def test_what_cannot_be_read_allows_no_set_and_says_why(config_map: dict[str, Any], problem: str) -> None:
    rules = PairRules.parse(config_map)
    assert rules.problems == (problem,)
    assert rules.refusal("free", "blue") == f"{WHAT} cannot be read, so it allows no set: {problem}"
    assert rules.refusal("free", "default") is None


def test_text_that_is_no_unicode_is_told() -> None:
    (problem,) = rules_of({"pairs.yaml": "a: \ud800"}).problems
    assert problem.startswith("data[pairs.yaml] not valid YAML: ")


def test_a_bad_label_key_is_told() -> None:
    (problem,) = rules_of({"pairs.yaml": "/tier: gold"}).problems
    assert problem == "data[pairs.yaml]: '/tier' is not a label key: prefix part must be non-empty"


def test_long_lists_and_long_words_are_cut_in_messages() -> None:
    refusal = rules_of({"region": ",".join(f"r{number}" for number in range(1000))}).refusal("region", "apac")
    assert refusal == (
        f"{WHAT} does not allow region=apac: exclusiveKey 'region' allows only the names "
        "r0, r1, r2, r3, r4, r5, r6, r7, 992 more"
    )
    (problem,) = rules_of({"region": "A" * 100_000}).problems
    assert len(problem) < 200


@pytest.mark.parametrize(
    ("cluster_set", "allowed"),
    [
        (a_set("apac", exclusiveKey="region"), True),
        (a_set("apac"), False),
        (a_set("apac", clusterSelector={"selectorType": "LabelSelector", "labelSelector": {}}), False),
        (a_set("blue", clusterSelector={"selectorType": "LabelSelector", "labelSelector": {}}), True),
        (a_set("apac", clusterSelector={"selectorType": "Nonsense"}), False),
        (a_set("blue"), True),
    ],
)
def test_a_set_without_a_key_has_no_pair(cluster_set: dict[str, Any], allowed: bool) -> None:
    assert (rules_of(SPEC).refusal_of(SETS.demanded(cluster_set)) is None) is allowed


words = st.sampled_from(["a", "b", "c", "d"])


@given(pairs=st.dictionaries(words, st.lists(words)), key=words, name=words)
def test_the_rule_is_the_one_of_the_text(pairs: dict[str, list[str]], key: str, name: str) -> None:
    """A set whose name is the value of a pair, or whose key is the key of one, must be a whole pair."""
    whole = {(each, value) for each, values in pairs.items() for value in values}
    concerned = key in pairs or any(value == name for _, value in whole)
    rules = rules_of({each: ", ".join(values) for each, values in pairs.items()})
    assert (rules.refusal(key, name) is None) is (not concerned or (key, name) in whole)


@given(st.one_of(st.none(), st.dictionaries(st.text(), st.one_of(st.none(), st.text(), st.integers()))), st.text())
def test_reading_never_fails(data: Any, structured: str) -> None:
    rules = PairRules.parse({"data": None if data is None else {**data, "pairs.yaml": structured}})
    assert isinstance(rules.refusal("region", "apac"), str | None)
