"""JoinReview: what a user may do with which cluster sets, what moving a cluster takes, and who may.

Answered by `hub/join_reviews.py`, from roles and bindings.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from muster.api.fleet_parts import question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, required
from muster.values.json import JsonObject

Name = Annotated[str, Meta(max_length=253)]


class JoinReviewSpec(Node, frozen=True):
    """About whom, which set, and which cluster."""

    user: Annotated[
        str,
        Meta(description="The user, or system:serviceaccount:NAMESPACE:NAME; the asker if not given.", max_length=1024),
    ] = ""
    groups: Annotated[tuple[str, ...], Meta(description="Groups of that user.", max_length=100)] = ()
    set: Annotated[Name, Meta(description="One set; all that the asker may get if not given.")] = ""
    cluster: Annotated[Name, Meta(description="The cluster that would be moved into the set, or out of it.")] = ""


class SetAccess(Part, frozen=True, omit_defaults=False):
    """What the user may do with a set."""

    name: str
    exclusive_key: Annotated[str, Meta(description="The label that makes members; empty for a label selector.")]
    may_join: Annotated[bool, Meta(description="Put clusters in and take them out, whose labels he may change.")]
    may_bind: Annotated[bool, Meta(description="Bind it to a namespace.")]


class NeedReview(Part, frozen=True, omit_defaults=False):
    """Permissions of which one will do."""

    any_of: tuple[str, ...]
    reason: str
    met: bool
    granted_by: dict[str, str]


class MoveReview(Node, frozen=True, omit_defaults=False):
    """Whether the user may move the cluster."""

    allowed: bool
    direction: Annotated[str, Meta(description="into or out of.")]
    change: Annotated[str, Meta(description="Of the cluster's labels, in words; empty if no change would do.")]
    note: str
    needs: tuple[NeedReview, ...]
    missing_rules: Annotated[tuple[JsonObject, ...], Meta(description="Rules of a ClusterRole that grants the rest.")]


class Joiner(Part, frozen=True, omit_defaults=False):
    """Somebody who may put clusters into the set and take them out."""

    kind: str
    subject: str
    binding: str
    role: str
    clusters: Annotated[str, Meta(description="Whose labels they may change: any, some names, or none.")]


class JoinReviewStatus(Node, frozen=True, omit_defaults=False):
    """The answer."""

    user: str
    sets: tuple[SetAccess, ...] = ()
    move: Annotated[MoveReview | None, Meta(description="With a set and a cluster.")] = None
    who: Annotated[
        tuple[Joiner, ...], Meta(description="With a set, and for those who may list roles and bindings: who may join.")
    ] = ()
    who_is_hidden: Annotated[bool, Meta(description="The asker may not list roles and bindings.")] = False


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    return (
        [required("spec.set", "which set is the cluster moved into?")]
        if spec.get("cluster") and not spec.get("set")
        else []
    )


JOIN_REVIEW: Final = question(
    "JoinReview",
    "What may a user do with cluster sets, and who may?",
    JoinReviewSpec,
    schema_of(JoinReviewStatus),
    _rules,
)
