"""Guards of placements: letting clusters go that a guard holds, or loosening a guard, needs the verb `approve`.

The same as `admission/placement_guards.py` says on the hub: an approval is a new text of its annotation, a guard is
loosened by changing or removing it, or by giving a limit that is there another window.
"""

from __future__ import annotations

from typing import Final

from muster.admission.placement_guards import RESOURCE, VERB
from muster.api.managed_cluster import GROUP
from muster.kubernetes.policies.expressions import USER, hole, quoted, text
from muster.kubernetes.policies.policy import Matched, Validation, permission_policy
from muster.placement.guards import ANNOTATIONS, APPROVAL, PREFIX
from muster.values.json import JsonObject

_LIMIT, _WINDOW = quoted(f"{PREFIX}max-removals"), quoted(f"{PREFIX}removal-window")
_GUARDS: Final = f"[{', '.join(quoted(each) for each in sorted(ANNOTATIONS))}]"
_AFTER: Final = "(has(object.metadata.annotations) ? object.metadata.annotations : {})"
_BEFORE: Final = "(oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})"
_APPROVAL: Final = quoted(APPROVAL)
_APPROVES: Final = (
    f"({_APPROVAL} in {_AFTER} && {_AFTER}[{_APPROVAL}] != ''"
    f" && (!({_APPROVAL} in {_BEFORE}) || {_AFTER}[{_APPROVAL}] != {_BEFORE}[{_APPROVAL}]))"
)
_IS_LOOSENED: Final = (
    f"(name in {_BEFORE} && (!(name in {_AFTER}) || {_AFTER}[name] != {_BEFORE}[name]))"
    f" || (name == {_WINDOW} && {_LIMIT} in {_BEFORE} && !({_WINDOW} in {_BEFORE}) && {_WINDOW} in {_AFTER})"
)
#: Whether a write needs the permission: of a policy, and of a webhook where there are no policies.
NEEDED: Final = f"{_APPROVES} || {_GUARDS}.exists(name, {_IS_LOOSENED})"


def approving() -> list[JsonObject]:
    resource, _, group = RESOURCE.partition(".")
    may = (
        f"authorizer.group({quoted(group)}).resource({quoted(resource)}).namespace(request.namespace)"
        f".name(object.metadata.name).check({quoted(VERB)}).allowed()"
    )
    deed = f"({_APPROVES} ? 'approve removals' : 'change the guard ' + {_GUARDS}.filter(name, {_IS_LOOSENED})[0])"
    words = (
        f'{RESOURCE} "{hole("object.metadata.name")}" is forbidden: user "{USER}" cannot {hole(deed)}: it needs the '
        f'permission to "{VERB}" {RESOURCE} in the namespace "{hole("request.namespace")}"'
    )
    return permission_policy(
        "muster-approve",
        Matched({GROUP: ("placements",)}, conditions={"a-guard-lets-go": NEEDED}),
        Validation(may, f'it needs the permission to "{VERB}" {RESOURCE}', text(words)),
    )
