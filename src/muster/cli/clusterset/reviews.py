"""What a server says of permissions: JoinReview is asked, and its answer read back for who prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.access.set_access import MoveAnswer, Need
from muster.api.fleet_joining import JoinReviewSpec, JoinReviewStatus
from muster.cli.inputs.askers import warn
from muster.clustersets.permissions import Permission
from muster.errors import ApiError, InvalidObjectError

if TYPE_CHECKING:
    from muster.api.fleet_joining import NeedReview
    from muster.cli.inputs.askers import Asked

_NOUNS: Final = {"managedclustersets": "cluster set", "managedclusters": "cluster"}
_HIDDEN: Final = "who may join is told to those who may list clusterroles and clusterrolebindings of the server"


async def joiners_of(asked: Asked, cluster_set: str) -> tuple[bool, list[dict[str, str]]]:
    """Whether the set is guarded by its key, and who may join; or else who may change labels. Raises ApiError."""
    status = await _reviewed(asked, JoinReviewSpec(set=cluster_set))
    if status.who_is_hidden:
        raise ApiError(403, "Forbidden", _HIDDEN)
    return bool(status.sets[0].exclusive_key), [msgspec.to_builtins(each) for each in status.who]


async def move_of(asked: Asked, user: str, groups: tuple[str, ...], cluster: str, cluster_set: str) -> MoveAnswer:
    """Whether a user may move a cluster into a set, or out of it. Raises ApiError."""
    status = await _reviewed(asked, JoinReviewSpec(user, groups, cluster_set, cluster))
    found = status.move
    if found is None:
        raise ApiError(502, "", "the server does not say what moving the cluster takes")
    needs = tuple(_need(each) for each in found.needs)
    return MoveAnswer(status.user, cluster, cluster_set, found.direction == "into", found.change, needs, found.note)


async def _reviewed(asked: Asked, spec: JoinReviewSpec) -> JoinReviewStatus:
    try:
        answer = await asked.asker.ask("JoinReview", spec)
    except ApiError as error:
        if error.code == 404 and error.kind in _NOUNS:
            raise InvalidObjectError("", f"there is no {_NOUNS[error.kind]} {error.name!r}") from None
        raise
    for sentence in answer.notes:
        warn(sentence)
    return answer.read(JoinReviewStatus)


def _need(found: NeedReview) -> Need:
    return Need(tuple(_permission(each, found.reason) for each in found.any_of), found.granted_by)


def _permission(text: str, reason: str) -> Permission:
    """As `Permission` writes it: `create managedclustersets/join.cluster.open-cluster-management.io "prod"`."""
    verb, _, rest = text.partition(" ")
    address, _, name = rest.partition(" ")
    path, _, group = address.partition(".")
    resource, _, subresource = path.partition("/")
    return Permission(verb, resource, subresource, name.strip('"'), reason, "", group)
