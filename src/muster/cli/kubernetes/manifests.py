"""`muster kubernetes manifests`: everything that would be installed, as kubectl takes it. No server is asked."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from muster.cli.inputs.option_groups import grouped
from muster.cli.inputs.options import OUTPUT
from muster.cli.kubernetes.options import Home, SettingOptions
from muster.cli.terminal.output import print_json, yaml_text


class Form(StrEnum):
    """How objects are printed."""

    YAML = "yaml"
    JSON = "json"


@grouped(SettingOptions, "said")
def command(
    said: SettingOptions,
    namespace: Home = None,
    output: Annotated[Form, typer.Option("--output", "-o", help="How to print.", rich_help_panel=OUTPUT)] = Form.YAML,
) -> None:
    """Print everything that would be installed, in the order in which it can be applied.

    The same settings give the same text. `kubectl apply --server-side -f -` takes it; `muster kubernetes install` does
    the same with a plan, waits until kinds are in force, and remembers what it installed.

    Examples:
      muster kubernetes manifests > release.yaml
      muster kubernetes manifests --crds upstream --set mode=beside --set replicas=1
      muster kubernetes manifests --set questions=true --set monitoring=true -o json
    """
    from muster.kubernetes.manifests import objects

    found = objects(said.settings(namespace))
    if output is Form.JSON:
        print_json({"apiVersion": "v1", "kind": "List", "items": found})
        return
    sys.stdout.write("---\n".join(map(yaml_text, found)))
