"""Limits as options: made from the settings classes that mark them, for every command that takes them.

`@takes(…)` gives a command an option per limit and calls it with the settings they make; `arguments` turns settings
into options again, for the processes that `muster hub run` starts. Run as a module it prints docs/reference/limits.md.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, cast

import typer

from muster.classification.outcomes import QueryLimits
from muster.cli.inputs.option_groups import put_on
from muster.hub.audit import AuditSettings
from muster.hub.auth.fairness import UserLimits
from muster.hub.limits import ObjectLimits
from muster.hub.rest.limits import Limits
from muster.hub.storage import StoreSettings
from muster.selectors.cel import CelLimits
from muster.values.json import Json
from muster.values.limits import InvalidLimitError, Limit, limits_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable

_PANEL = "Limits"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What bounds the API server."""

    requests: Limits = field(default_factory=Limits)
    users: UserLimits = field(default_factory=UserLimits)
    objects: ObjectLimits = field(default_factory=ObjectLimits)
    store: StoreSettings = field(default_factory=StoreSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    expressions: CelLimits = field(default_factory=CelLimits)


@dataclass(frozen=True, slots=True)
class ControllersLimits:
    """What bounds the controllers."""

    expressions: CelLimits = field(default_factory=CelLimits)
    queries: QueryLimits = field(default_factory=QueryLimits)


@dataclass(frozen=True, slots=True)
class HubLimits(ServerLimits):
    """What bounds both: `muster hub run` starts them."""

    queries: QueryLimits = field(default_factory=QueryLimits)


def _groups(limits: type) -> dict[str, type]:
    return {each.name: cast("type", each.default_factory) for each in fields(limits)}


def takes(limits: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that is called with `limits` of this class, and has an option for each of them instead."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = inspect.get_annotations(command, eval_str=True)
        signature = inspect.signature(command)
        own = [each.replace(annotation=hints[name]) for name, each in signature.parameters.items() if name != "limits"]
        groups = _groups(limits)
        options = {_parameter(each): each for group in groups.values() for each in limits_of(group)}
        made = [_option(name, each) for name, each in options.items()]

        def run(**given: Json) -> None:
            values = {name: value for name in options if (value := given.pop(name)) is not None}
            parts = {}
            for name, group in groups.items():
                ours = {each.attribute: _parameter(each) for each in limits_of(group)}
                parts[name] = group(**{key: values[option] for key, option in ours.items() if option in values})
            command(limits=limits(**parts), **given)

        put_on(run, command, [*own, *made])
        return run

    return decorate


def arguments(limits: HubLimits | ControllersLimits, wanted: type) -> list[str]:
    """The options by which another command gets those of these limits that it takes and that are not the usual ones."""
    found = []
    for name, group in _groups(wanted).items():
        for limit in limits_of(group):
            value = getattr(getattr(limits, name), limit.attribute)
            if value != limit.default:
                found += [limit.option, shown(value, limit.unit)]
    return found


def limit_options(limits: type) -> list[str]:
    """The options of these limits."""
    return [each.option for group in _groups(limits).values() for each in limits_of(group)]


def _parameter(limit: Limit) -> str:
    return limit.option.removeprefix("--").replace("-", "_")


def _option(name: str, limit: Limit) -> inspect.Parameter:
    def read(text: str) -> float:
        try:
            return _of_type(limit, limit.read(text))
        except InvalidLimitError as error:
            raise typer.BadParameter(str(error)) from None

    help_ = f"{limit.meaning.rstrip('.')} (default {shown(limit.default, limit.unit)}); beyond: {limit.beyond}."
    option = typer.Option(
        limit.option,
        parser=read,
        help=help_.replace("`", ""),
        show_default=False,
        metavar=limit.unit.value.upper(),
        rich_help_panel=_PANEL,
    )
    # The parser gives the type; typer only has to see one that it leaves alone.
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Json, option])


def _of_type(limit: Limit, value: float) -> float:
    return type(limit.default)(value)


_INTRODUCTION = """# Limits

Everything that runs on behalf of a user is bounded, so that nobody takes the hub from the others. Generated from the
settings; a test keeps it so. `muster hub run` takes all of these as options; `muster hub serve` those of the API
server, `muster hub controllers` those of the controllers. A refusal names the setting (`objectsPerKind`) and the option
(`--objects-per-kind`). Members of system:masters and the hub's own controllers are not counted per user.

Sizes are written `1000000`, `64Ki`, `3Mi`, `1Gi`; times `90`, `90s`, `1h30m`, `500ms`.
"""
_TITLES = {
    "requests": "Requests and connections",
    "users": "One user",
    "objects": "Objects, events, lists and selectors",
    "store": "Watches",
    "audit": "The audit log",
    "expressions": "CEL expressions of placements",
    "queries": "jq queries of classifications (controllers only)",
}


def reference() -> str:
    """The page of the documentation."""
    parts = [_INTRODUCTION]
    for name, settings in _groups(HubLimits).items():
        parts.append(f"## {_TITLES[name]}\n\n| option | default | what | beyond |\n|---|---|---|---|")
        parts[-1] += "".join(
            f"\n| `{each.option}` | {shown(each.default, each.unit)} | {each.meaning} | {each.beyond} |"
            for each in limits_of(settings)
        )
        parts[-1] += "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(reference())
