"""From the settings file to the options of one command. What was typed and what the environment says counts more.

`terminal/commands.py` asks for the defaults of the command that is called; nobody else needs to know that there is a
file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.fields import text_in
from muster.cli.settings.file import FILE, HUB, KEYS, Settings, read_settings, settings_path, unknown_key
from muster.cli.terminal.help import choices
from muster.errors import InvalidObjectError, MusterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer._click.core import Command

    from muster.values.json import Json, JsonObject

OUTPUT: Final = KEYS["output"].variable
FORMATS: Final = ("table", "wide", "text", "tree", "json", "yaml", "name")
SERVER: Final = "Server"  # the group of the options that say which server is meant
_HUB_COMMANDS: Final = ("muster hub run", "muster hub serve", "muster hub controllers")


def defaults_for(command: Command, path: str, *, quiet: bool = False) -> JsonObject:
    """What the file says about a command's options, by parameter. Raises InvalidObjectError unless told to be quiet."""
    if not any(param.name in KEYS for param in command.params):
        return {}  # nothing to say: a broken file is no reason not to go on
    if not any(map(os.environ.get, (FILE, OUTPUT))) and not settings_path().exists():
        return {}
    try:
        settings = read_settings()
        check_output(settings)
        found = _shared(command.params, settings)
        if path in _HUB_COMMANDS and settings.hub:
            check_hub_keys(settings)
            found |= _of_hub(command.params, settings)
    except MusterError:
        if quiet:
            return {}
        raise
    return found


def set_by_file(key: str) -> str:
    """What the file says, for those who are not a command's option; nothing if it says nothing or cannot be read."""
    try:
        return str(read_settings().values.get(key, ""))
    except MusterError:
        return ""


def origin_of(param: Json) -> str:
    """Where the file says something about a parameter."""
    settings = read_settings()
    keys = [f"{HUB}.{key}" for option in param.opts if (key := option.lstrip("-")) in settings.hub]
    return settings.origin(next(iter(keys), str(param.name)))


def check_hub_keys(settings: Settings) -> None:
    """Raises InvalidObjectError for what is no option of the hub."""
    from muster.cli.hub.options import option_names

    known = option_names()
    for key in settings.hub:
        if key not in known:
            raise unknown_key(settings, f"{HUB}.{key}", str(key), sorted(known))


def _shared(params: Sequence[Json], settings: Settings) -> JsonObject:
    found: JsonObject = {}
    for param in params:
        if param.name == "output":
            wanted = os.environ.get(OUTPUT, "")
            wanted = wanted or text_in(settings.values, "output")
            if wanted in _choices(param):
                found["output"] = wanted
            continue
        value = settings.values.get(param.name)
        if value is None or os.environ.get(KEYS[param.name].variable):
            continue
        if param.name == "data":
            found["data"] = Path(value).expanduser()
        elif param.rich_help_panel == SERVER:  # elsewhere a kubeconfig may be a file to write
            found[param.name] = str(Path(value).expanduser()) if param.name == "kubeconfig" else value
    return found


def check_output(settings: Settings) -> None:
    """Raises InvalidObjectError for a format that no command has. One that only some have counts for those."""
    from muster.values.nearest import nearest

    named, in_file = os.environ.get(OUTPUT), settings.values.get("output")
    for wanted, origin in ((named, f"${OUTPUT}"), (in_file, settings.origin("output") if in_file else "")):
        if wanted and wanted not in FORMATS:
            close = nearest(wanted, FORMATS)
            hint = f": did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(FORMATS)}"
            raise InvalidObjectError(origin, f"no command prints {wanted!r}{hint}")


def _choices(param: Json) -> list[str]:
    if param.metavar and "|" in param.metavar:
        return str(param.metavar).split("|")
    return choices(param) or []


def _of_hub(params: Sequence[Json], settings: Settings) -> JsonObject:
    found: JsonObject = {}
    for param in params:
        for option in param.opts:
            if (key := option.lstrip("-")) in settings.hub:
                found[param.name] = _given(param, settings.hub[key])
    return found


def _given(param: Json, value: Json) -> Json:
    """A value as it would come from the command line: numbers and sizes are texts there."""
    if param.multiple:
        return [str(each) for each in value] if isinstance(value, list) else [str(value)]
    return value if isinstance(value, bool) else str(value)
