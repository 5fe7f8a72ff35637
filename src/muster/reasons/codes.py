"""Every code that a reason can have; and, for placements and hosts, what it means and what it carries.

The codes of operators are explained in `operator_codes.py`. The page of codes is made of both.

Codes are stable: programs in other languages decide by them. A code keeps its meaning, and one that is no longer used
is taken out, never given to another meaning; new ones may come, and reasons may carry more than before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class Code(StrEnum):
    """The codes, by what speaks."""

    # Selectors, of one object.
    EXPRESSIONS_TRUE = "ExpressionsTrue"
    EXPRESSION_TRUE = "ExpressionTrue"
    EXPRESSION_FALSE = "ExpressionFalse"
    EXPRESSION_FAILED = "ExpressionFailed"
    EXPRESSION_NOT_BOOLEAN = "ExpressionNotBoolean"
    REQUIREMENTS_HOLD = "RequirementsHold"
    REQUIREMENT_HOLDS = "RequirementHolds"
    REQUIREMENT_FAILS = "RequirementFails"
    SELECTOR_NULL = "SelectorNull"
    SELECTOR_FAILS = "SelectorFails"
    SELECTOR_HOLDS = "SelectorHolds"
    SELECTOR_SAYS = "SelectorSays"
    IDENTITY_LISTED = "IdentityListed"
    IDENTITY_NOT_LISTED = "IdentityNotListed"
    PURPOSES_DIFFER = "PurposesDiffer"
    # Cluster sets.
    SET_LABEL_MATCHES = "SetLabelMatches"
    SET_LABEL_DIFFERS = "SetLabelDiffers"
    IN_BOUND_SET = "InBoundSet"
    NOT_IN_BOUND_SET = "NotInBoundSet"
    SET_UNUSABLE = "SetUnusable"
    SET_NOT_NAMED = "SetNotNamed"
    SET_NOT_BOUND = "SetNotBound"
    NO_SET_BOUND = "NoSetBound"
    NAMED_SETS_NOT_BOUND = "NamedSetsNotBound"
    IN_NO_SET = "InNoSet"
    NOT_BY_RULE = "NotByRule"
    CLUSTER_DELETING = "ClusterDeleting"
    # Filters.
    NO_PREDICATE_HOLDS = "NoPredicateHolds"
    TAINT_NOT_TOLERATED = "TaintNotTolerated"
    TAINTS_TOLERATED = "TaintsTolerated"
    TAINTS_TOLERATED_UNTIL = "TaintsToleratedUntil"
    TAINTS_DISLIKED = "TaintsDisliked"
    NO_TAINTS = "NoTaints"
    FILTER_OBJECTS = "FilterObjects"
    FILTER_PASSES = "FilterPasses"
    FILTER_NOT_ASKED = "FilterNotAsked"
    FILTER_NOT_INSTALLED = "FilterNotInstalled"
    # The pick.
    SELECTED = "Selected"
    NOT_PICKED = "NotPicked"
    TOPOLOGY_MISSING = "TopologyMissing"
    SPREAD_OVER = "SpreadOver"
    SPREAD_UNEVENLY = "SpreadUnevenly"
    TAINT_DISLIKED = "TaintDisliked"
    SCORE_TOO_LOW = "ScoreTooLow"
    RANK_TOO_LOW = "RankTooLow"
    ALL_TAKEN = "AllTaken"
    NONE_TAKEN = "NoneTaken"
    ABOVE_THE_CUT = "AboveTheCut"
    BELOW_THE_CUT = "BelowTheCut"
    TAKEN_IN_SPREAD = "TakenInSpread"
    LEFT_OUT_OF_SPREAD = "LeftOutOfSpread"
    # Placements as a whole, and moves of decisions.
    PLACEMENT_MISCONFIGURED = "PlacementMisconfigured"
    NO_SUCH_CLUSTER = "NoSuchCluster"
    FITS = "Fits"
    FITS_NOT_PICKED = "FitsNotPicked"
    PICKED = "Picked"
    NOT_KNOWN = "NotKnown"
    MATCHES_PREDICATE = "MatchesPredicate"
    MATCHES_ALWAYS = "MatchesAlways"
    WAS_SELECTED = "WasSelected"
    # Notes beside an answer.
    SCORER_WARNS = "ScorerWarns"
    EXPRESSIONS_TAKE_LONG = "ExpressionsTakeLong"
    PLACEMENT_DELETING = "PlacementDeleting"
    SCHEDULING_DISABLED = "SchedulingDisabled"
    # Conditions of a placement: the words of its status.
    NO_BINDINGS = "NoManagedClusterSetBindings"
    NO_INTERSECTION = "NoIntersection"
    ALL_SETS_EMPTY = "AllManagedClusterSetsEmpty"
    NO_CLUSTER_MATCHED = "NoManagedClusterMatched"
    NOT_ALL_SCHEDULED = "NotAllDecisionsScheduled"
    ALL_SCHEDULED = "AllDecisionsScheduled"
    CONFIGURED = "Succeedconfigured"
    MISCONFIGURED = "Misconfigured"
    SETS_SKIPPED = "ClusterSetsSkipped"
    MEMBERS_KEPT = "LastGoodMembersKept"
    EVALUATION_ERRORS = "EvaluationErrors"
    # Guards of decisions.
    REMOVALS_HELD = "RemovalsHeld"
    HELD_IN_DECISION = "HeldInDecision"
    WOULD_GO = "WouldGo"
    TOO_MANY_REMOVALS = "TooManyRemovals"
    TOO_FEW_LEFT = "TooFewLeft"
    REMOVALS_FROZEN = "RemovalsFrozen"
    QUIET_TIME = "QuietTime"
    OUTSIDE_HOURS = "OutsideHours"
    FLEET_BRAKE = "FleetBrake"
    GUARD_UNREADABLE = "GuardUnreadable"
    GUARD_UNREMEMBERED = "GuardUnremembered"
    APPROVAL_OUTDATED = "ApprovalOutdated"
    # Queries of host classifications, of one host.
    QUERY_MATCHES = "QueryMatches"
    QUERY_DOES_NOT_MATCH = "QueryDoesNotMatch"
    QUERY_INVALID = "QueryInvalid"
    QUERY_FAILED = "QueryFailed"
    QUERY_BUDGET_EXCEEDED = "QueryBudgetExceeded"
    QUERY_NOT_BOOLEAN = "QueryNotBoolean"
    QUERY_PAUSED = "QueryPaused"
    # Operators: what a constraint asks of a bundle.
    RULE_ASKED = "RuleAsked"
    PACKAGE_ASKED = "PackageAsked"
    API_ASKED = "ApiAsked"
    LABEL_ASKED = "LabelAsked"
    PROPERTY_ASKED = "PropertyAsked"
    ALL_ASKED = "AllAsked"
    ANY_ASKED = "AnyAsked"
    NONE_ASKED = "NoneAsked"
    # Operators: who asks for one.
    WANTED = "Wanted"
    INSTALLED_UNOWNED = "InstalledUnowned"
    OPERATOR_NEEDED = "OperatorNeeded"
    OPERATOR_WISHED = "OperatorWished"
    # Operators: why one that was preferred cannot be.
    BUNDLE_DEPRECATED = "BundleDeprecated"
    BUNDLE_UNREADABLE = "BundleUnreadable"
    PACKAGE_NOT_ALLOWED = "PackageNotAllowed"
    NEED_UNMET = "NeedUnmet"
    NEED_BLOCKED = "NeedBlocked"
    PACKAGE_TAKEN = "PackageTaken"
    API_TAKEN = "ApiTaken"
    NEEDS_CONFLICT = "NeedsConflict"
    # Operators: notes beside a plan.
    NO_UPDATE_FITS = "NoUpdateFits"
    NO_DIRECT_UPDATE = "NoDirectUpdate"
    FALLS_BACK = "FallsBack"
    OTHER_CHANNEL = "OtherChannel"
    WISH_UNMET = "WishUnmet"
    WISH_DOES_NOT_FIT = "WishDoesNotFit"
    DEPRECATION_NOTED = "DeprecationNoted"
    # Operators: facts that cannot all hold.
    WANT_POSSIBLE = "WantPossible"
    WANT_IMPOSSIBLE = "WantImpossible"
    VERSIONS_NEED = "VersionsNeed"
    VERSIONS_NEED_UNMET = "VersionsNeedUnmet"
    VERSIONS_NEED_MORE = "VersionsNeedMore"
    OFFERED = "Offered"
    ONE_VERSION_ONLY = "OneVersionOnly"
    ONE_PROVIDER_ONLY = "OneProviderOnly"
    INSTALLED_STAYS = "InstalledStays"
    UPDATE_TAKES_PLACE = "UpdateTakesPlace"
    VERSIONS_DEPRECATED = "VersionsDeprecated"
    VERSIONS_UNUSABLE = "VersionsUnusable"
    # Operators: why nothing can meet a want.
    RANGE_INVALID = "RangeInvalid"
    CATALOGS_EMPTY = "CatalogsEmpty"
    CATALOG_HAS_NONE = "CatalogHasNone"
    PACKAGE_NOT_FOUND = "PackageNotFound"
    CHANNEL_NOT_FOUND = "ChannelNotFound"
    START_NOT_FOUND = "StartNotFound"
    CHANNEL_BROKEN = "ChannelBroken"
    NO_UPDATE_IN_RANGE = "NoUpdateInRange"
    NO_VERSION_IN_RANGE = "NoVersionInRange"
    # Operators: what belongs to a fact, and what came nearest.
    AUTHOR_SAYS = "AuthorSays"
    PROVIDERS = "Providers"
    VERSIONS_PRESENT = "VersionsPresent"
    PACKAGE_UNKNOWN = "PackageUnknown"
    APIS_PRESENT = "ApisPresent"
    LABELS_PRESENT = "LabelsPresent"
    PROPERTY_DIFFERS = "PropertyDiffers"
    RULE_FALSE = "RuleFalse"
    RULE_FAILED = "RuleFailed"
    MEMBER_MET = "MemberMet"
    MEMBER_UNMET = "MemberUnmet"
    NOT_A_CANDIDATE = "NotACandidate"
    # Operators: changes that would help.
    DROP_WANTS = "DropWants"
    UNINSTALL = "Uninstall"
    ALLOW_PACKAGE = "AllowPackage"
    ALLOW_VERSION = "AllowVersion"
    BEGIN_ELSEWHERE = "BeginElsewhere"
    USE_CHANNEL = "UseChannel"
    # Operators: outcomes without an answer.
    NOT_DECIDED = "NotDecided"
    INPUT_REFUSED = "InputRefused"
    # Operators: one package in the light of a plan.
    BUNDLE_CHOSEN = "BundleChosen"
    OTHERS_PREFERRED = "OthersPreferred"
    NOTHING_ASKS = "NothingAsks"
    NO_CATALOG_HAS = "NoCatalogHas"
    LESS_PREFERRED = "LessPreferred"
    CANNOT_BE = "CannotBe"
    MORE_LESS_PREFERRED = "MoreLessPreferred"
    # Operators: findings in constraints and channels.
    CONSTRAINT_INVALID = "ConstraintInvalid"
    CONSTRAINT_MEANINGLESS = "ConstraintMeaningless"
    CONSTRAINT_LARGE = "ConstraintLarge"
    CONSTRAINT_DEEP = "ConstraintDeep"
    FIELD_SPELLING = "FieldSpelling"
    SEVERAL_KINDS = "SeveralKinds"
    EMPTY_LIST = "EmptyList"
    RANGE_HYPHEN = "RangeHyphen"
    RANGE_EMPTY = "RangeEmpty"
    RANGE_HAS_PRERELEASES = "RangeHasPrereleases"
    TOP_LEVEL_NOT = "TopLevelNot"
    MEETS_ITSELF = "MeetsItself"
    NOTHING_MEETS = "NothingMeets"
    RANGES_CONTRADICT = "RangesContradict"
    CHANNEL_UNORDERED = "ChannelUnordered"
    # Operators: faults in catalogs.
    CHANNEL_WITHOUT_HEAD = "ChannelWithoutHead"
    CHANNEL_WITH_SEVERAL_HEADS = "ChannelWithSeveralHeads"
    CHANNEL_CYCLE = "ChannelCycle"
    CHANNEL_TWICE = "ChannelTwice"
    ENTRIES_UNREADABLE = "EntriesUnreadable"
    ENTRIES_TWICE = "EntriesTwice"
    ENTRY_WITHOUT_BUNDLE = "EntryWithoutBundle"
    BUNDLE_WITHOUT_CHANNEL = "BundleWithoutChannel"
    BUNDLE_TWICE = "BundleTwice"
    BUNDLE_UNUSABLE = "BundleUnusable"
    BUNDLE_DIRECTORY_INVALID = "BundleDirectoryInvalid"
    VALUE_TOO_DEEP = "ValueTooDeep"
    PACKAGE_TWICE = "PackageTwice"
    DEPRECATIONS_UNREADABLE = "DeprecationsUnreadable"
    BLOB_UNREADABLE = "BlobUnreadable"
    BLOB_NOT_JSON = "BlobNotJson"
    BLOB_TOO_LARGE = "BlobTooLarge"
    BLOB_WITHOUT_SCHEMA = "BlobWithoutSchema"
    DOCUMENT_TOO_LARGE = "DocumentTooLarge"
    JSON_INVALID = "JsonInvalid"
    YAML_INVALID = "YamlInvalid"
    FILE_UNREADABLE = "FileUnreadable"
    GZIP_BROKEN = "GzipBroken"
    GZIP_INVALID = "GzipInvalid"
    UNPACKED_TOO_LARGE = "UnpackedTooLarge"
    FILE_NAME_UNKNOWN = "FileNameUnknown"
    CATALOG_UNAVAILABLE = "CatalogUnavailable"
    INSTALLED_UNREADABLE = "InstalledUnreadable"
    INSTALLED_AMBIGUOUS = "InstalledAmbiguous"


@dataclass(frozen=True, slots=True)
class Documented:
    """What a code means, and what reasons with it carry: in the subject, as parameters, as values, as clusters."""

    section: str
    meaning: str
    subject: str = ""
    parameters: str = ""
    values: str = ""
    clusters: str = ""
    parts: str = ""


_SELECTOR, _SETS, _FILTER, _PICK = "Selectors", "Cluster sets", "Filters", "The pick"
_WHOLE, _NOTE, _CONDITION, _QUERY = "Placements and moves", "Notes", "Conditions", "Queries of classifications"
_C = Code

PLACEMENT_CODES: Final[Mapping[Code, Documented]] = {
    _C.EXPRESSIONS_TRUE: Documented(_SELECTOR, "Every expression is true."),
    _C.EXPRESSION_TRUE: Documented(_SELECTOR, "The expression is true.", "expression"),
    _C.EXPRESSION_FALSE: Documented(
        _SELECTOR, "The expression is false.", "expression", "expressions", "what it looked at, by path, as it is shown"
    ),
    _C.EXPRESSION_FAILED: Documented(
        _SELECTOR,
        "The expression could not be evaluated, and so does not select. `error` is the kind of failure.",
        "expression",
        "error, expressions, noun",
        "message",
    ),
    _C.EXPRESSION_NOT_BOOLEAN: Documented(
        _SELECTOR, "The expression came to something else than true or false.", "expression", "", "type"
    ),
    _C.REQUIREMENTS_HOLD: Documented(_SELECTOR, "Every requirement on labels or claims holds.", "", "noun"),
    _C.REQUIREMENT_HOLDS: Documented(_SELECTOR, "The requirement holds.", "requirement", "noun"),
    _C.REQUIREMENT_FAILS: Documented(
        _SELECTOR,
        "The requirement on a label or claim does not hold. `actual` is null where there is no such label.",
        "requirement",
        "noun, key, expected",
        "actual",
    ),
    _C.SELECTOR_NULL: Documented(_SELECTOR, "The selector is null, which selects nothing.", "", "noun"),
    _C.SELECTOR_FAILS: Documented(_SELECTOR, "A selector that is not taken apart does not hold.", "", "selector"),
    _C.SELECTOR_HOLDS: Documented(_SELECTOR, "Every part of a selector holds.", "", "of"),
    _C.SELECTOR_SAYS: Documented(_SELECTOR, "A selector of a plugin says why in its own words.", "", "", "text"),
    _C.IDENTITY_LISTED: Documented(_SELECTOR, "The object's identity is listed."),
    _C.IDENTITY_NOT_LISTED: Documented(_SELECTOR, "The object's identity is not listed.", "", "", "identity"),
    _C.PURPOSES_DIFFER: Documented(
        _SELECTOR, "The object's purposes are not those that are wanted.", "requirement", "", "purposes"
    ),
    _C.SET_LABEL_MATCHES: Documented(_SETS, "The label of the exclusive key names the set.", "clusterSet", "key"),
    _C.SET_LABEL_DIFFERS: Documented(
        _SETS, "The label of the exclusive key does not name the set.", "clusterSet", "key", "actual"
    ),
    _C.IN_BOUND_SET: Documented(
        _SETS,
        "A set that the placement may choose from has the cluster.",
        "clusterSet",
        "namespace, fault",
        parts="why the set has it",
    ),
    _C.NOT_IN_BOUND_SET: Documented(
        _SETS,
        "A set that the placement may choose from does not have the cluster.",
        "clusterSet",
        "namespace, fault",
        parts="why the set does not have it",
    ),
    _C.SET_UNUSABLE: Documented(
        _SETS, "The set cannot be evaluated. `stays`: the cluster is decided already.", "clusterSet", "fault, stays"
    ),
    _C.SET_NOT_NAMED: Documented(
        _SETS, "The set has the cluster and is bound, but the placement does not name it.", "clusterSet"
    ),
    _C.SET_NOT_BOUND: Documented(
        _SETS, "The set has the cluster, but no binding lets the placement see it.", "clusterSet", "namespace"
    ),
    _C.NO_SET_BOUND: Documented(_SETS, "No cluster set is bound to the placement's namespace.", "", "namespace"),
    _C.NAMED_SETS_NOT_BOUND: Documented(
        _SETS, "None of the sets that the placement names is bound to its namespace.", "", "namespace, sets"
    ),
    _C.IN_NO_SET: Documented(
        _SETS, "The cluster is in none of the placement's sets.", "", "sets", parts="why, set by set"
    ),
    _C.NOT_BY_RULE: Documented(_SETS, "The cluster is not in the set, because of the set's rule.", "", "rule"),
    _C.CLUSTER_DELETING: Documented(_SETS, "The cluster is being deleted."),
    _C.NO_PREDICATE_HOLDS: Documented(_FILTER, "No predicate holds.", "stage", parts="why not, predicate by predicate"),
    _C.TAINT_NOT_TOLERATED: Documented(
        _FILTER,
        "A taint is not tolerated. A taint that controllers set is a parameter, others are values.",
        "stage",
        "taint",
        "taint",
    ),
    _C.TAINTS_TOLERATED: Documented(_FILTER, "Every taint is tolerated.", "", "", "taints"),
    _C.TAINTS_TOLERATED_UNTIL: Documented(
        _FILTER, "Every taint is tolerated, one of them for some time only.", "", "until", "taints"
    ),
    _C.TAINTS_DISLIKED: Documented(
        _FILTER, "A PreferNoSelect taint makes the cluster rank after those without it.", "", "", "taints"
    ),
    _C.NO_TAINTS: Documented(_FILTER, "The cluster has no taints."),
    _C.FILTER_OBJECTS: Documented(_FILTER, "A filter of a plugin says no.", "stage", "filter", "text"),
    _C.FILTER_PASSES: Documented(_FILTER, "A filter of a plugin has nothing against the cluster."),
    _C.FILTER_NOT_ASKED: Documented(
        _FILTER, "A filter of a plugin removed so many clusters that it was not asked why for each.", "", "filter"
    ),
    _C.FILTER_NOT_INSTALLED: Documented(_FILTER, "A filter that is not installed here removed the cluster."),
    _C.SELECTED: Documented(_PICK, "The cluster is selected."),
    _C.NOT_PICKED: Documented(
        _PICK, "The cluster fits and was not picked.", "", "taken, fitting", parts="what puts it behind the others"
    ),
    _C.TOPOLOGY_MISSING: Documented(
        _PICK, "The cluster lacks a label or claim over which the placement must be spread.", "", "topology"
    ),
    _C.SPREAD_OVER: Documented(_PICK, "Those that were picked are spread over topologies.", "", "topologies"),
    _C.SPREAD_UNEVENLY: Documented(
        _PICK, "The cluster scores high enough, and would spread the placement unevenly.", "", "topologies"
    ),
    _C.TAINT_DISLIKED: Documented(
        _PICK, "The cluster has a PreferNoSelect taint, and others without one come first.", "", "others"
    ),
    _C.SCORE_TOO_LOW: Documented(
        _PICK, "Others have a higher score, or an equal one and an earlier name.", "", "score, better, disliked"
    ),
    _C.RANK_TOO_LOW: Documented(_PICK, "The cluster ranks below those that are wanted.", "", "wanted"),
    _C.ALL_TAKEN: Documented(_PICK, "All clusters that fit are taken.", "", "fitting, wanted"),
    _C.NONE_TAKEN: Documented(_PICK, "None of the clusters that fit is taken.", "", "fitting, wanted"),
    _C.ABOVE_THE_CUT: Documented(
        _PICK,
        "The cluster is taken; `other` is the first that is not.",
        "",
        "taken, fitting, wanted, score",
        "",
        "other",
    ),
    _C.BELOW_THE_CUT: Documented(
        _PICK,
        "The cluster is not taken; `other` is the last that is. `tie`: what decided between equals.",
        "",
        "taken, fitting, wanted, score, tie",
        "",
        "other",
    ),
    _C.TAKEN_IN_SPREAD: Documented(
        _PICK, "The cluster is taken, spread over topologies.", "", "taken, fitting, wanted, topologies"
    ),
    _C.LEFT_OUT_OF_SPREAD: Documented(
        _PICK,
        "The cluster is not taken where clusters are spread over topologies.",
        "",
        "taken, fitting, wanted, topologies",
        parts="why",
    ),
    _C.PLACEMENT_MISCONFIGURED: Documented(_WHOLE, "The placement cannot be scheduled as it is.", "", "fault"),
    _C.NO_SUCH_CLUSTER: Documented(_WHOLE, "There is no such cluster."),
    _C.FITS: Documented(_WHOLE, "The cluster passes every filter."),
    _C.FITS_NOT_PICKED: Documented(_WHOLE, "The cluster passed every filter and was not picked."),
    _C.PICKED: Documented(_WHOLE, "The cluster was picked."),
    _C.NOT_KNOWN: Documented(_WHOLE, "How the cluster stood was seen by nobody."),
    _C.MATCHES_PREDICATE: Documented(_WHOLE, "The decided cluster matches this predicate, the first one.", "predicate"),
    _C.MATCHES_ALWAYS: Documented(_WHOLE, "The placement has no predicates."),
    _C.WAS_SELECTED: Documented(_WHOLE, "The cluster was decided before and is on its way out."),
    _C.SCORER_WARNS: Documented(_NOTE, "A scorer has something to say of some clusters.", "", "", "text"),
    _C.EXPRESSIONS_TAKE_LONG: Documented(_NOTE, "The placement is explained in part only, to save time."),
    _C.PLACEMENT_DELETING: Documented(_NOTE, "The placement is being deleted."),
    _C.SCHEDULING_DISABLED: Documented(_NOTE, "An annotation keeps the decisions as they are.", "", "annotation"),
    _C.NO_BINDINGS: Documented(_CONDITION, "No cluster set is bound to the placement's namespace."),
    _C.NO_INTERSECTION: Documented(_CONDITION, "None of the named sets is bound to the namespace.", "", "sets"),
    _C.ALL_SETS_EMPTY: Documented(_CONDITION, "The sets have no clusters.", "", "sets"),
    _C.NO_CLUSTER_MATCHED: Documented(_CONDITION, "No cluster matches."),
    _C.NOT_ALL_SCHEDULED: Documented(_CONDITION, "Fewer clusters were found than are wanted.", "", "unscheduled"),
    _C.ALL_SCHEDULED: Documented(_CONDITION, "Everything that is wanted is decided."),
    _C.CONFIGURED: Documented(_CONDITION, "The placement can be scheduled."),
    _C.MISCONFIGURED: Documented(_CONDITION, "The placement cannot be scheduled; its decisions stay.", "", "fault"),
    _C.SETS_SKIPPED: Documented(
        _CONDITION, "Sets are left out because they cannot be evaluated.", parts="which and why"
    ),
    _C.MEMBERS_KEPT: Documented(
        _CONDITION, "Sets that cannot be evaluated keep their last good members.", parts="which and why"
    ),
    _C.EVALUATION_ERRORS: Documented(
        _CONDITION,
        "Clusters are not selected because an expression failed on them.",
        "",
        "failing, namespace, name",
        parts="which expressions failed, and how",
    ),
    _C.QUERY_MATCHES: Documented(_QUERY, "The query says true."),
    _C.QUERY_DOES_NOT_MATCH: Documented(_QUERY, "The query says false."),
    _C.QUERY_INVALID: Documented(_QUERY, "The query does not compile.", "", "message"),
    _C.QUERY_FAILED: Documented(_QUERY, "The query failed on the host.", "", "", "message"),
    _C.QUERY_BUDGET_EXCEEDED: Documented(_QUERY, "The query ran into a limit on the host.", "", "", "message"),
    _C.QUERY_NOT_BOOLEAN: Documented(
        _QUERY, "The query gave something else than one true or false.", "", "", "message"
    ),
    _C.QUERY_PAUSED: Documented(_QUERY, "The query failed too often and is not run for now.", "", "", "message"),
}
