"""What a constraint asks of a bundle, as a reason: plans, stories, findings and fixes speak of constraints with it."""

from __future__ import annotations

from typing import assert_never

from muster.reasons import Code, Reason, Subject
from muster.resolution.constraints import forms as c


def what_is_asked(constraint: c.Constraint) -> Reason:
    """The constraint without its author's messages, so that what asks for the same is the same."""
    match constraint:
        case c.CelConstraint(rule=rule):
            return Reason(Code.RULE_ASKED, Subject(expression=rule))
        case c.PackageConstraint(name=name, version_range=wanted):
            return Reason(Code.PACKAGE_ASKED, Subject(package=name), {"range": wanted})
        case c.ApiConstraint(api=api):
            return Reason(Code.API_ASKED, parameters=api._asdict())
        case c.LabelConstraint(label=label):
            return Reason(Code.LABEL_ASKED, parameters={"label": label})
        case c.PropertyConstraint(name=name, value_text=text):
            return Reason(Code.PROPERTY_ASKED, parameters={"property": name, "value": text})
        case c.AllConstraint(members=members):
            return Reason(Code.ALL_ASKED, parts=tuple(map(what_is_asked, members)))
        case c.AnyConstraint(members=members):
            return Reason(Code.ANY_ASKED, parts=tuple(map(what_is_asked, members)))
        case c.NotConstraint(members=members):
            return Reason(Code.NONE_ASKED, parts=tuple(map(what_is_asked, members)))
        case _:
            assert_never(constraint)
