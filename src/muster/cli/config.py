"""`muster config`: which defaults are in force, and where each comes from."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from muster.cli.inputs.options import Report, ReportFormat
from muster.cli.settings.defaults import check_hub_keys, check_output
from muster.cli.settings.file import HUB, KEYS, Settings, read_settings
from muster.cli.terminal.output import TablePrinter, print_report


@dataclass(frozen=True, slots=True)
class InForce:
    """One setting: its value, and whose word it is."""

    key: str
    value: str
    origin: str


def command(output: ReportFormat = Report.TEXT) -> None:
    """Show which defaults are in force, and where they come from.

    What is typed counts most, then the environment, then the settings file, then what is built in. The file is
    $MUSTER_CONFIG, else $XDG_CONFIG_HOME/muster/config.yaml, else ~/.config/muster/config.yaml, and may have the keys
    kubeconfig, context, namespace, output, data (the hub's directory) and hub, a mapping of options of `muster hub
    run`, limits included:

    namespace: apps
    hub: {port: 8443, objects-per-kind: 200000}

    Examples:
      muster config
      muster config -o json
    """
    settings = read_settings()
    check_output(settings)
    check_hub_keys(settings)
    found = in_force(settings)
    if output is not Report.TEXT:
        answer = [{"key": each.key, "value": each.value, "from": each.origin} for each in found]
        print_report({"file": str(settings.path), "exists": settings.path.exists(), "settings": answer}, output)
        return
    sys.stdout.write(f"{settings.path}{'' if settings.path.exists() else ' (there is none)'}\n\n")
    columns = [{"name": name} for name in ("Setting", "Value", "From")]
    rows = [{"cells": [each.key, each.value, each.origin]} for each in found]
    TablePrinter(wide=True, with_namespace=False).print({"columnDefinitions": columns, "rows": rows})


def in_force(settings: Settings) -> list[InForce]:
    """Every setting, and the hub's that the file has."""
    found = []
    for name, key in KEYS.items():
        if value := os.environ.get(key.variable):
            found.append(InForce(name, value, f"${key.variable}"))
        elif name in settings.values:
            found.append(InForce(name, str(settings.values[name]), settings.origin(name)))
        else:
            found.append(InForce(name, key.built_in, "built in"))
    for option, value in settings.hub.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        found.append(InForce(f"{HUB}.{option}", shown, settings.origin(f"{HUB}.{option}")))
    return found
