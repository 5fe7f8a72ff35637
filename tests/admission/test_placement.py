"""Placements whose expressions are wrong, too long or too dear."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from muster.admission import Finding, Settings, compiling, validate
from muster.admission.kinds import kinds
from muster.api.agent import GROUP as AGENTS
from muster.api.managed_cluster import GROUP as OCM
from muster.api.resolution import GROUP as RESOLUTIONS
from muster.selectors import cel
from muster.selectors.cel import CelLimits
from tests.admission.writes import Nothing, a_write

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

PATH = "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0]"
GOOD = 'managedCluster.metadata.labels["env"] == "prod"'
WRONG = "managedCluster.metadata.labels["
DEAR = (
    "managedCluster.status.clusterClaims.all(a, managedCluster.status.clusterClaims.all(b, a.value.contains(b.value)))"
)


def placement(*expressions: str, **spec: Any) -> dict[str, Any]:
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": list(expressions)}}}
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "metadata": {"name": "p", "namespace": "apps"},
        "spec": {"predicates": [selector], **spec},
    }


def check(new: dict[str, Any], old: dict[str, Any] | None = None, settings: Settings | None = None) -> Finding:
    return asyncio.run(validate(a_write("placements", new, old), Nothing(), kinds(settings or Settings())))


def test_a_good_expression_passes_in_silence() -> None:
    assert check(placement(GOOD)) == Finding()


def test_a_wrong_expression_is_stored_with_a_warning_that_fits_a_header() -> None:
    finding = check(placement(WRONG))
    assert finding.refusal is None
    (warning,) = finding.warnings
    assert warning.startswith(f"placement cannot be scheduled: failed to compile CEL expression '{WRONG}': ERROR: ")
    assert "\n" not in warning
    assert len(check(placement(WRONG + "x" * 5000)).warnings[0].encode()) <= 1024 + len("…".encode())


def test_a_wrong_expression_is_refused_where_that_is_wished() -> None:
    finding = check(placement(WRONG), settings=Settings(refuse_placements=True))
    assert finding.refusal is not None
    assert (finding.refusal.code, [cause.field for cause in finding.refusal.causes]) == (422, ["spec"])


def test_a_name_that_is_no_label_value_is_told_when_it_is_written() -> None:
    named = placement(GOOD)
    named["metadata"]["name"] = "n" * 64
    (warning,) = check(named).warnings
    assert warning.startswith("placement cannot be scheduled: the name has 64 characters")
    refusal = check(named, settings=Settings(refuse_placements=True)).refusal
    assert refusal is not None
    assert [cause.field for cause in refusal.causes] == ["metadata.name"]
    named["metadata"]["name"] = "n" * 63
    assert check(named) == Finding()


def test_an_expression_of_more_than_ten_kibibytes_is_refused() -> None:
    finding = check(placement(f"'{'x' * 10 * 1024}' == ''"))
    assert finding.refusal is not None
    assert [(cause.field, cause.message) for cause in finding.refusal.causes] == [
        (PATH, "Too long: may not be more than 10240 bytes")
    ]


def test_an_expression_that_may_cost_too_much_is_refused() -> None:
    finding = check(placement(f"{GOOD} && {DEAR}"), settings=Settings(cel_limits=CelLimits(estimate=1000)))
    assert finding.refusal is not None
    (cause,) = finding.refusal.causes
    assert cause.field == PATH
    assert cause.message.endswith(
        f"more than the limit of 1000: most of it is {DEAR}; compare fewer elements there, or shorter strings"
    )


def test_what_is_already_stored_stays_writable() -> None:
    tight = Settings(refuse_placements=True, cel_limits=CelLimits(estimate=1000))
    old = placement(DEAR)
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert check(labelled, old, tight) == Finding()
    assert (
        check(placement(DEAR, numberOfClusters=3), old, Settings(cel_limits=CelLimits(estimate=1000))).refusal is None
    )


def test_the_number_of_expressions_is_bounded() -> None:
    finding = check(placement(*[GOOD] * 300))
    assert finding.refusal is not None
    assert "at most 256 expressions" in finding.refusal.causes[0].message


def test_all_expressions_of_an_object_have_one_limit() -> None:
    """Each alone is short enough, and so is their number."""
    many = [f"{GOOD} || '{'x' * 4000}{number}' == ''" for number in range(20)]
    finding = check(placement(*many))
    assert finding.refusal is not None
    (cause,) = finding.refusal.causes
    assert "the expressions of one object may have 65536 characters together" in cause.message


def test_a_bad_expression_is_compiled_once_however_often_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = cel.compile_cel

    def counted(text: str, *rest: Any) -> Any:
        compiled.append(text)
        return real(text, *rest)

    monkeypatch.setattr(compiling, "compile_cel", counted)
    bad = f"{WRONG} // only here"
    for _ in range(3):
        assert check(placement(bad)).warnings
    assert compiled == [bad]


def test_expressions_are_compiled_aside() -> None:
    weights: list[bool] = []

    async def aside(work: Callable[[], Finding], *, heavy: bool) -> Finding:
        weights.append(heavy)
        return work()

    for plural, group in (("placements", OCM), ("agentclassifications", AGENTS), ("resolutions", RESOLUTIONS)):
        asyncio.run(validate(a_write(plural, placement(GOOD), group=group), Nothing(), run_check=aside))
    assert weights == [False, True, True, True]  # what a placement says of its guards is read at once
