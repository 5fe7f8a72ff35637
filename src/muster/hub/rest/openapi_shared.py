"""The parts of our OpenAPI documents that every kind shares: metadata, lists, Status, DeleteOptions, query parameters.

Data for `openapi`. The texts are ours; names and types are Kubernetes'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping


META = "io.k8s.apimachinery.pkg.apis.meta.v1"


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _text(description: str, **more: Any) -> JsonObject:
    return {"type": "string", "description": description, **more}


def _referred(name: str, description: str) -> JsonObject:
    """A reference with a description beside it; a bare `$ref` may not have one."""
    return {"description": description, "default": {}, "allOf": [ref(name)]}


_TIME = {"type": "string", "format": "date-time"}
_STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}

SCHEMAS: Mapping[str, JsonMapping] = {
    f"{META}.Time": {"description": "A moment in RFC 3339, in seconds.", **_TIME},
    f"{META}.OwnerReference": {
        "description": "Names the object that this one belongs to: when the owner goes, so does this object.",
        "type": "object",
        "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {
            "apiVersion": _text("API version of the owner."),
            "kind": _text("Kind of the owner."),
            "name": _text("Name of the owner."),
            "uid": _text("UID of the owner."),
            "controller": {"type": "boolean", "description": "Whether the owner manages this object."},
            "blockOwnerDeletion": {
                "type": "boolean",
                "description": "Whether a foreground deletion of the owner waits for this object.",
            },
        },
    },
    f"{META}.ManagedFieldsEntry": {
        "description": "Which fields one manager has set, and how.",
        "type": "object",
        "properties": {
            "apiVersion": _text("Version of the object in which the fields are named."),
            "fieldsType": _text("Always FieldsV1."),
            "fieldsV1": {"type": "object", "description": "The set of fields, as a tree of path elements."},
            "manager": _text("Name of the manager."),
            "operation": _text("Apply for server-side apply, Update for everything else."),
            "subresource": _text("The subresource through which the fields were set."),
            "time": {"allOf": [ref(f"{META}.Time")], "description": "When the entry last changed."},
        },
    },
    f"{META}.ObjectMeta": {
        "description": "What every object carries: its identity, labels and bookkeeping.",
        "type": "object",
        "properties": {
            "annotations": {**_STRINGS, "description": "Notes of tools and people; not used to select objects."},
            "creationTimestamp": {
                "allOf": [ref(f"{META}.Time")],
                "description": "CreationTimestamp is a timestamp: when the object was created. Read-only.",
            },
            "deletionGracePeriodSeconds": {
                "type": "integer",
                "format": "int64",
                "description": "Seconds that a deletion may take. Read-only.",
            },
            "deletionTimestamp": {
                "allOf": [ref(f"{META}.Time")],
                "description": "When deletion was asked for; set while finalizers hold the object. Read-only.",
            },
            "finalizers": {
                "type": "array",
                "items": {"type": "string", "default": ""},
                "description": "The object stays until this list is empty.",
                "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge",
            },
            "generateName": _text("Prefix of a name that the server completes, when name is empty."),
            "generation": {
                "type": "integer",
                "format": "int64",
                "description": "Counts changes of the desired state. Read-only.",
            },
            "labels": {**_STRINGS, "description": "Keys and values that selectors select by."},
            "managedFields": {
                "type": "array",
                "items": {"allOf": [ref(f"{META}.ManagedFieldsEntry")], "default": {}},
                "description": "Who has set which fields.",
                "x-kubernetes-list-type": "atomic",
            },
            "name": _text("Unique among the objects of the kind in its namespace. Cannot be changed."),
            "namespace": _text("The namespace of the object; empty for cluster-scoped kinds."),
            "ownerReferences": {
                "type": "array",
                "items": {"allOf": [ref(f"{META}.OwnerReference")], "default": {}},
                "description": "The objects that this one belongs to.",
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "uid",
                "x-kubernetes-patch-strategy": "merge",
            },
            "resourceVersion": _text("Revision of the last change. Send it back to update only what you have read."),
            "selfLink": _text("No longer set."),
            "uid": _text("Unique in time and space. Read-only."),
        },
    },
    f"{META}.ListMeta": {
        "description": "What every list carries.",
        "type": "object",
        "properties": {
            "continue": _text("Set when there is more: send it back to get the next part of the list."),
            "remainingItemCount": {
                "type": "integer",
                "format": "int64",
                "description": "How many objects are left, if it is known.",
            },
            "resourceVersion": _text("The revision of the list: watch from here to miss nothing."),
            "selfLink": _text("No longer set."),
        },
    },
    f"{META}.Preconditions": {
        "description": "What must be true of an object for it to be deleted.",
        "type": "object",
        "properties": {
            "resourceVersion": _text("The revision it must have."),
            "uid": _text("The UID it must have."),
        },
    },
    f"{META}.DeleteOptions": {
        "description": "How to delete.",
        "type": "object",
        "properties": {
            "apiVersion": _text("Version of this object's schema."),
            "kind": _text("DeleteOptions."),
            "dryRun": {"type": "array", "items": {"type": "string"}, "description": "All: say what would happen."},
            "gracePeriodSeconds": {
                "type": "integer",
                "format": "int64",
                "description": "Ignored by kinds without processes.",
            },
            "orphanDependents": {"type": "boolean", "description": "Use propagationPolicy instead."},
            "preconditions": _referred(f"{META}.Preconditions", "Delete only if these hold."),
            "propagationPolicy": _text("What becomes of dependents: Orphan, Background or Foreground."),
        },
    },
    f"{META}.StatusCause": {
        "description": "One thing that is wrong.",
        "type": "object",
        "properties": {
            "field": _text("The field it is about."),
            "message": _text("A sentence for people."),
            "reason": _text("A word for programs."),
        },
    },
    f"{META}.StatusDetails": {
        "description": "What a Status is about.",
        "type": "object",
        "properties": {
            "causes": {
                "type": "array",
                "items": ref(f"{META}.StatusCause"),
                "description": "Everything that is wrong.",
            },
            "group": _text("API group of the object."),
            "kind": _text("Kind or resource of the object."),
            "name": _text("Name of the object."),
            "retryAfterSeconds": {"type": "integer", "format": "int32", "description": "When to try again."},
            "uid": _text("UID of the object."),
        },
    },
    f"{META}.Status": {
        "description": "The answer to a request that returns no object: done, or refused and why.",
        "type": "object",
        "properties": {
            "apiVersion": _text("v1."),
            "kind": _text("Status."),
            "metadata": _referred(f"{META}.ListMeta", "Standard list metadata."),
            "code": {"type": "integer", "format": "int32", "description": "The HTTP status code."},
            "details": _referred(f"{META}.StatusDetails", "What it is about."),
            "message": _text("A sentence for people."),
            "reason": _text("A word for programs, such as NotFound or Conflict."),
            "status": _text("Success or Failure."),
        },
        "x-kubernetes-group-version-kind": [{"group": "", "kind": "Status", "version": "v1"}],
    },
    f"{META}.Patch": {"description": "A patch in one of the forms that the content type names.", "type": "object"},
}


def _parameter(name: str, description: str, kind: str = "string") -> JsonObject:
    return {"name": name, "in": "query", "description": description, "schema": {"type": kind, "uniqueItems": True}}


PRETTY = _parameter("pretty", "If true, the answer is indented for people.")
DRY_RUN = _parameter("dryRun", "All: check and answer as usual, but change nothing.")
FIELD_MANAGER = _parameter("fieldManager", "The name under which the fields of this request are recorded.")
FIELD_VALIDATION = _parameter(
    "fieldValidation",
    "What to do with unknown and duplicate fields: Ignore, Warn (the default) or Strict, which refuses the request.",
)
FORCE = _parameter("force", "Take over the fields that other managers own; only for apply.", "boolean")

SELECTION = (
    _parameter("labelSelector", "Only objects whose labels match."),
    _parameter("fieldSelector", "Only objects whose fields match, such as metadata.name=x."),
)
LIST = (
    *SELECTION,
    _parameter("limit", "At most so many objects; the answer's `continue` leads on.", "integer"),
    _parameter("continue", "Where to go on, from the last answer."),
    _parameter("resourceVersion", "At which revision to read; see resourceVersionMatch."),
    _parameter("resourceVersionMatch", "Exact, or NotOlderThan."),
    _parameter("timeoutSeconds", "End a watch after so many seconds.", "integer"),
    _parameter("watch", "Send changes as they happen instead of a list.", "boolean"),
    _parameter("allowWatchBookmarks", "Send BOOKMARK events now and then, which carry only a revision.", "boolean"),
    _parameter("sendInitialEvents", "Begin a watch with the objects that exist, closed by a bookmark.", "boolean"),
)
DELETE = (
    DRY_RUN,
    _parameter("gracePeriodSeconds", "Accepted for compatibility.", "integer"),
    _parameter("orphanDependents", "Use propagationPolicy instead.", "boolean"),
    _parameter("propagationPolicy", "What becomes of dependents: Orphan, Background or Foreground."),
)
