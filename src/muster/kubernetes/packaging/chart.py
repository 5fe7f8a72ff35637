"""The Helm chart as files: description, values with what each means, their schema, templates, notes.

Values are the settings of `muster kubernetes install` under the same names, without the namespace, which is the
release's.
"""

from __future__ import annotations

import json
from typing import Final, get_args, get_origin, get_type_hints

import msgspec

from muster import __version__
from muster.kubernetes.packaging.templates import templates, yaml_lines
from muster.kubernetes.settings import DEFAULTS, HomeSettings
from muster.values.json import Json, JsonObject, Schema

OLDEST: Final = "1.33.0-0"  # the oldest that `make interop` runs on
_DESCRIPTION: Final = "Which of my clusters, hosts and operators fit, and why?"

_NOTES: Final = """\
Muster {{ .Chart.AppVersion }} is installed in {{ .Release.Namespace }}.

  muster kubernetes check -n {{ .Release.Namespace }}     what is there, which rules hold where, what is missing
  kubectl -n {{ .Release.Namespace }} get pods            two Pods; one of them leads
{{- if eq .Values.crds "ours" }}

`helm uninstall` keeps the definitions of kinds, and with them clusters, sets and placements.
{{- if .Values.webhooks }} Set webhooks=false and
upgrade before that: sets are then served without our Pods, which convert between their versions.
{{- end }}
{{- end }}
"""

_README: Final = """\
# muster

{description} Written by `python -m muster.kubernetes.packaging`, from the same code as `muster kubernetes
manifests`; do not edit.

```
helm install muster charts/muster --namespace muster-system --create-namespace
```

| value | default | |
|---|---|---|
{rows}
"""


def chart() -> dict[str, str]:
    """Every file of the chart, by its path."""
    values = msgspec.to_builtins(DEFAULTS)
    del values["namespace"]
    return {
        "Chart.yaml": _text(
            {
                "apiVersion": "v2",
                "name": "muster",
                "description": _DESCRIPTION,
                "type": "application",
                "version": __version__,
                "appVersion": __version__,
                "kubeVersion": f">={OLDEST}",
                "annotations": {"artifacthub.io/license": "Apache-2.0"},
            }
        ),
        ".helmignore": "README.md\n",
        "README.md": _README.format(description=_DESCRIPTION, rows="\n".join(_rows(values))),
        "values.yaml": _values(values),
        "values.schema.json": json.dumps(values_schema(), indent=2, ensure_ascii=False) + "\n",
        "templates/NOTES.txt": _NOTES,
        **{f"templates/{name}": text for name, text in templates().items()},
    }


def values_schema() -> Schema:
    """What values may be; `global` is Helm's own."""
    found: Schema = msgspec.json.schema(HomeSettings)
    definitions: JsonObject = found["$defs"]
    root: JsonObject = definitions.pop("HomeSettings")
    properties = {name: schema for name, schema in root["properties"].items() if name != "namespace"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **root,
        "title": "Values",
        "properties": {**properties, "global": {"type": "object"}},
        "$defs": definitions,
    }


def meanings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """What each field of settings means, by the name that values have."""
    hints = get_type_hints(struct, include_extras=True)
    found = {}
    for each in msgspec.structs.fields(struct):
        notes = [note for note in get_args(hints[each.name])[1:] if isinstance(note, msgspec.Meta)]
        found[each.encode_name] = str(notes[0].description) if notes else ""
    return found


def _values(values: JsonObject) -> str:
    """One value after the other, each below what it means."""
    parts = []
    told = meanings(HomeSettings)
    for name, value in values.items():
        parts.append(f"# {told[name]}\n{_text({name: value})}")
    return "\n".join(parts)


def _rows(values: JsonObject) -> list[str]:
    found = []
    for name, told in meanings(HomeSettings).items():
        if name not in values:
            continue
        inner = _inner(name)
        if inner is None:
            found.append(f"| `{name}` | `{json.dumps(values[name])}` | {told} |")
            continue
        found += [
            f"| `{name}.{part}` | `{json.dumps(values[name][part])}` | {words} |"
            for part, words in meanings(inner).items()
        ]
    return found


def _inner(name: str) -> type[msgspec.Struct] | None:
    """The struct of a value that has parts."""
    fields = {each.encode_name: each.type for each in msgspec.structs.fields(HomeSettings)}
    kind = fields[name]
    plain = get_args(kind)[0] if get_origin(kind) is not None and get_args(kind) else kind
    return plain if isinstance(plain, type) and issubclass(plain, msgspec.Struct) else None


def _text(value: Json) -> str:
    return "\n".join(yaml_lines(value)) + "\n"
