"""Makes docs/reference/lint.md from the rules: `python -m muster.cli.references.lint > docs/reference/lint.md`."""

from __future__ import annotations

import sys

from muster.placement.lint.findings import RULES, Severity

_INTRODUCTION = """# What lint finds

Generated from the rules; a test keeps it so. `muster lint -f FILE|DIR` looks at placements, cluster sets and
bindings in files, and judges them by a fleet: the files of `--fleet`, the clusters in the files themselves, or the
server of the kubeconfig. With `--offline`, or where there is no kubeconfig, only what needs no fleet is found.
Without `-f` the objects of the fleet are looked at. The API sends the same findings as warnings when a placement is
applied.

Each finding has a code, a severity, the file and line, the field, what is wrong, and a fix where there is one; for
expressions a caret shows the place. `-o json` and `-o yaml` have the same for machines, with `expression` and
`offset` (in code points).

Names and values are those of all clusters that are there, however many. What expressions do is found by running
them on one cluster of each kind that they can tell apart; where nearly every cluster is a kind of its own, as for
an expression over unique ids, such an expression is judged by its names only.

Exit codes: 0 when there is nothing as bad as `--fail-on` (by default a warning), 1 when there is, 2 for files that
cannot be read, 3 when the server cannot be reached, 4 when it does not permit reading.
"""
_MEANING = {
    Severity.ERROR: "It cannot work: the server refuses or drops it, or the placement cannot select anything.",
    Severity.WARNING: "It is valid, and cannot be meant.",
    Severity.INFO: "Good to know. Does not fail a pipeline unless asked to.",
}


def reference() -> str:
    """The page."""
    parts = [_INTRODUCTION]
    for severity in Severity:
        parts.append(f"## {severity.value}\n\n{_MEANING[severity]}\n")
        rows = [
            f"| `{code}` | {rule.summary} | {rule.remedy} |"
            for code, rule in sorted(RULES.items())
            if rule.severity is severity
        ]
        parts.append("| code | what | fix |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(reference())
