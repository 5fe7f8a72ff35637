"""Every limit is an option, reaches whom it is for, and stands on its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from muster.classification.outcomes import QUERY_LIMITS, QueryLimits
from muster.cli.hub import command as hub
from muster.cli.inputs.limits import ControllersLimits, HubLimits, ServerLimits, _groups, arguments, reference
from muster.selectors.cel import CEL_LIMITS, CelLimits
from muster.values.limits import Limit, Unit, limits_of

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "limits.md"
LIMITS = [(group, each) for group, settings in _groups(HubLimits).items() for each in limits_of(settings)]
IDS = [each.option for _, each in LIMITS]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "run: python -m muster.cli.inputs.limits > docs/reference/limits.md"
    )


def test_names_are_given_once() -> None:
    assert len(set(IDS)) == len(IDS)


def another(limit: Limit) -> tuple[str, float]:
    """A value that is not the usual one, as text."""
    match limit.unit:
        case Unit.COUNT:
            return "7", 7
        case Unit.BYTES:
            return "5Ki", 5120
        case Unit.SECONDS:
            return "1h1s", 3601.0


def served(monkeypatch: pytest.MonkeyPatch, *options: str) -> Any:
    """The settings that `muster hub serve` starts a hub with."""
    found: list[Any] = []

    async def run_hub(settings: Any, _: Any) -> None:
        found.append(settings)

    monkeypatch.setattr("muster.app.run_hub", run_hub)
    monkeypatch.setattr(CEL_LIMITS, "value", CelLimits())
    result = CliRunner().invoke(hub.app, ["serve", "--data", "/nowhere", *options])
    assert result.exit_code == 0, result.output
    return found[0]


def test_every_option_of_the_server_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [(group, limit) for group, limit in LIMITS if group in _groups(ServerLimits)]
    settings = served(monkeypatch, *(text for _, limit in ours for text in (limit.option, another(limit)[0])))
    parts = {
        "requests": settings.requests,
        "users": settings.access.users,
        "objects": settings.objects,
        "store": settings.store,
        "audit": settings.access.audit,
        "expressions": settings.access.admission.cel_limits,
    }
    given = {limit.option: getattr(parts[group], limit.attribute) for group, limit in ours}
    assert given == {limit.option: another(limit)[1] for _, limit in ours}
    assert not [limit.option for _, limit in ours if given[limit.option] == limit.default]
    assert parts["expressions"] == CEL_LIMITS.value


def test_without_options_everything_is_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = served(monkeypatch)
    usual = ServerLimits()
    assert (settings.requests, settings.objects, settings.store) == (usual.requests, usual.objects, usual.store)
    assert (settings.access.users, settings.access.audit) == (usual.users, usual.audit)


def test_run_passes_every_limit_on_to_whom_it_is_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[Any] = []

    async def supervise(*parts: Any) -> int:
        commands.extend(part.arguments() for part in parts)
        return 0

    monkeypatch.setattr("muster.cli.hub.supervisor.supervise", supervise)
    options = [text for _, limit in LIMITS for text in (limit.option, another(limit)[0])]
    result = CliRunner().invoke(hub.app, ["run", "--data", str(tmp_path), *options])
    assert result.exit_code == 0, result.output
    for command, taken in zip(commands, (ServerLimits, ControllersLimits), strict=True):
        passed = {
            limit.option: limit.read(command[command.index(limit.option) + 1])
            for _, limit in LIMITS
            if limit.option in command
        }
        assert passed == {limit.option: another(limit)[1] for group, limit in LIMITS if group in _groups(taken)}


def test_only_what_is_unusual_is_passed_on() -> None:
    assert arguments(HubLimits(), ServerLimits) == []
    limits = HubLimits(expressions=CelLimits(cluster=5), queries=QueryLimits(seconds=0.5))
    assert arguments(limits, ControllersLimits) == ["--cel-cost-per-cluster", "5", "--jq-seconds", "0.5s"]
    assert arguments(limits, ServerLimits) == ["--cel-cost-per-cluster", "5"]


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--watches-per-user", "many", "'many' is no number"),
        ("--body-bytes", "3MB", "'3MB' is no size"),
        ("--events-ttl", "soon", "'soon' is no time"),
        ("--objects-per-kind", "0", "'0' is too little: at least 1"),
    ],
)
def test_a_value_that_is_none_is_refused_with_what_would_be_one(option: str, value: str, text: str) -> None:
    result = CliRunner().invoke(hub.app, ["serve", option, value])
    assert result.exit_code == 2
    assert text in result.output.replace("\n", " ")


def test_the_limits_in_force_are_those_of_expressions_and_queries_that_name_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from muster.classification.queries import Query
    from muster.selectors.cel import cel_compiler

    loop = "[1,2,3,4].all(x, [1,2,3,4].all(y, [1,2,3,4].all(z, x + y + z > 0)))"
    cluster = {"metadata": {"name": "a"}}
    assert cel_compiler()([loop])[0].match(cluster)
    monkeypatch.setattr(CEL_LIMITS, "value", CelLimits(expression=50))
    assert not cel_compiler()([loop])[0].match(cluster)
    slow = "[range(100)] | length > 0"
    ran = Query(slow).outcome((), dict)
    assert ran is not None
    assert not ran.exhausted
    monkeypatch.setattr(QUERY_LIMITS, "value", QueryLimits(steps=20))
    ran = Query(slow).outcome((), dict)
    assert ran is not None
    assert ran.exhausted
