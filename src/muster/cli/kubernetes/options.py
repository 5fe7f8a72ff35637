"""Options that say how the Kubernetes home is set up, for the commands that make or apply its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from muster.cli.inputs.documents import load_one
from muster.errors import InvalidObjectError
from muster.kubernetes.settings import DEFAULTS, HomeSettings, parsed_assignment, settings_from
from muster.values.json import JsonObject

Home = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        help="Where Muster runs; else where it is installed, else muster-system.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class SettingOptions:
    """What was said about the settings; nothing where nothing was said."""

    crds: Annotated[
        str | None,
        typer.Option(
            "--crds",
            metavar="ours|upstream|none",
            help="Whose definitions of kinds: ours; upstream: Open Cluster Management's are expected; none.",
            show_default=False,
            rich_help_panel="Settings",
        ),
    ] = None
    image: Annotated[
        str | None,
        typer.Option(
            "--image", metavar="IMAGE", help="The image of our Pods.", show_default=False, rich_help_panel="Settings"
        ),
    ] = None
    values: Annotated[
        str | None,
        typer.Option(
            "--values",
            "-f",
            metavar="FILE",
            help="YAML with settings, named as in the chart's values.yaml.",
            show_default=False,
            rich_help_panel="Settings",
        ),
    ] = None
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="One setting, such as replicas=3, questions=true or resources.memory=512Mi; several are taken.",
            rich_help_panel="Settings",
        ),
    ] = None

    def settings(self, namespace: str | None, base: HomeSettings = DEFAULTS) -> HomeSettings:
        """The settings that these make of others: file, then --set, then options. Raises InvalidObjectError."""
        found = base
        if self.values is not None:
            found = settings_from(_values(self.values), found)
        for each in self.assignments if self.assignments is not None else ():
            found = settings_from(parsed_assignment(each), found)
        said = {"crds": self.crds, "image": self.image, "namespace": namespace}
        return settings_from({name: value for name, value in said.items() if value is not None}, found)


def _values(file: str) -> JsonObject:
    found = load_one(file)
    if not isinstance(found, dict):
        raise InvalidObjectError(file, "settings are a mapping of names and values")
    return found
