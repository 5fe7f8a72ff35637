"""Makes docs/reference/reasons.md: `python -m muster.cli.references.reasons > docs/reference/reasons.md`."""

from __future__ import annotations

import sys

from muster.reasons import CODES
from muster.reasons.selector_words import KINDS

_INTRODUCTION = """# Reasons

Generated from the codes; a test keeps it so. Every answer that says why, of a command with `-o json`, over HTTP and
from Python, has a reason beside the sentence: `why` beside `reason`, `summary` and `message`, `cutWhy` beside `cut`,
`remarks` beside `notes`. `muster resolve -o json` has `reason` beside a text, and beside a list of texts its reasons in
`reasons`, under the name of the list and in its order. Sentences are for people and may change; programs decide by the
code.

```json
{"code": "NoPredicateHolds",
 "subject": {"stage": "Predicate", "cluster": "c1"},
 "parts": [{"code": "RequirementFails",
            "subject": {"predicate": 1, "requirement": "tier=gold"},
            "parameters": {"noun": "label", "key": "tier", "expected": "tier=gold"},
            "values": {"actual": "silver"}}]}
```

| field | |
|---|---|
| `code` | one of those below |
| `subject` | what it is about: see below |
| `parameters` | what authors wrote and Muster counted |
| `values` | what objects hold, and texts that may quote it; null for what is not there. For those who may read them |
| `clusters` | names of clusters beside the subject. Only those that the reader may get |
| `parts` | the reasons that this one is made of |

What is empty is left out, and so is what the reader may not see. A subject has `stage`, `check`, `predicate` (from 1),
`requirement`, `expression` and the `position` in it (in code points), `field` of the placement, `cluster`,
`clusterSet`, and for operators `package`, `channel` and `bundle`, as far as they apply.

**Codes are stable.** A code keeps its meaning. New codes may come, and a reason may carry more than before: pass over
what you do not know. A code that is no longer used is taken out with a note in the change log, and never given to
another meaning. The words of conditions are upstream's, and so are their codes. What `muster lint` finds has
[codes of its own](lint.md); what became of objects in a history is told by `deed`.
"""
_KINDS = """## Kinds of failure

`error` of `ExpressionFailed`: what went wrong when an expression was evaluated, without the values it was about. The
language's own text is the value `message`.

| error | in words |
|---|---|
"""


def reference() -> str:
    """The page."""
    parts = [_INTRODUCTION]
    for section in dict.fromkeys(each.section for each in CODES.values()):
        rows = []
        for code, each in CODES.items():
            if each.section == section:
                carried = (each.subject, each.parameters, each.values, each.clusters, each.parts)
                labels = ("subject", "parameters", "values", "clusters", "parts")
                shown = "; ".join(f"{label}: {text}" for label, text in zip(labels, carried, strict=True) if text)
                rows.append(f"| `{code.value}` | {each.meaning} | {shown} |")
        parts.append(f"## {section}\n\n| code | meaning | carries |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    kinds = "\n".join(f"| `{kind}` | {text} |" for kind, text in KINDS.items())
    return "\n".join([*parts, f"{_KINDS}{kinds}\n"])


if __name__ == "__main__":
    sys.stdout.write(reference())
