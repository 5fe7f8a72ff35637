"""The settings file: where it is, what may stand in it, what stands in it. `muster config` shows it.

A file that cannot be understood is refused, with the line and the key that may have been meant. Nothing here knows
what the values do: `defaults` hands them to commands.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from muster.values.yaml_reading import YamlDocument

FILE: Final = "MUSTER_CONFIG"  # the variable that names another file
HUB: Final = "hub"


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: what it is, the variable that counts more, and what holds when nobody says anything."""

    meaning: str
    variable: str
    built_in: str


KEYS: Final = {
    "kubeconfig": Key("kubeconfig file", "KUBECONFIG", "~/.kube/config"),
    "context": Key("context of the kubeconfig", "MUSTER_CONTEXT", "the kubeconfig's current context"),
    "namespace": Key("namespace", "MUSTER_NAMESPACE", "the context's, else default"),
    "output": Key("how to print, where a command can", "MUSTER_OUTPUT", "each command's own"),
    "data": Key(
        "directory of the hub", "MUSTER_DATA", "that of $KUBECONFIG, else ./.muster, else ~/.local/share/muster"
    ),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says."""

    path: Path
    values: JsonMapping = field(default_factory=dict)  # by key; those of the hub by option, without dashes in front
    hub: JsonMapping = field(default_factory=dict)
    line: int = 1  # where the document begins

    def origin(self, key: str) -> str:
        """Where a value stands: file and line."""
        from muster.cli.inputs.positions import Positions

        file, line = Positions().line(f"{self.path}:{self.line}", key)
        return f"{file}:{line}" if line else file


def settings_path() -> Path:
    """Where the file is, or would be."""
    if named := os.environ.get(FILE):
        return Path(named).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(folder) if folder else Path("~/.config").expanduser()) / "muster" / "config.yaml"


def read_settings() -> Settings:
    """What the file says; nothing if there is none. Raises InvalidObjectError."""
    path = settings_path()
    if not path.exists():
        if os.environ.get(FILE):
            raise InvalidObjectError(str(path), f"no such file; ${FILE} names it")
        return Settings(path)
    document = _document(path)
    if document is None:
        return Settings(path)
    found = document.value
    if not isinstance(found, dict):
        raise InvalidObjectError(str(path), "settings are a mapping, such as `namespace: apps`")
    hub = found.get(HUB, {})
    read = Settings(path, {key: found[key] for key in found if key != HUB}, hub, document.line)
    for key, value in read.values.items():
        _check(read, str(key), value)
    if not isinstance(hub, dict):
        told = "options of `muster hub run` by name, such as `port: 8443`"
        raise InvalidObjectError(read.origin(HUB), f"{HUB} is a mapping of {told}, this is {hub!r}")
    return read


def unknown_key(settings: Settings, place: str, key: str, known: list[str]) -> InvalidObjectError:
    """What to say of a key that means nothing."""
    from muster.values.nearest import nearest

    close = nearest(key, known)
    meant = f": did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(known)}"
    return InvalidObjectError(settings.origin(place), f"there is no setting {key!r}{meant}")


def _check(settings: Settings, key: str, value: Json) -> None:
    if key not in KEYS:
        raise unknown_key(settings, key, key, [*KEYS, HUB])
    if not isinstance(value, str) or not value:
        raise InvalidObjectError(settings.origin(key), f"{key} is a text ({KEYS[key].meaning}), this is {value!r}")


def _document(path: Path) -> YamlDocument | None:
    from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

    try:
        return read_yaml(path.read_bytes(), YamlLimits())
    except OSError as error:
        raise InvalidObjectError(str(path), f"cannot be read: {error.strerror}") from None
    except YamlError as error:
        place = f":{error.line}" if error.line else ""
        raise InvalidObjectError(f"{path}{place}", f"not valid YAML: {error.problem}") from None
