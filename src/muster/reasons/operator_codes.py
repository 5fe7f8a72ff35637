"""What the codes of operators mean and carry: a part of the page of codes. The codes stand in `codes.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code, Documented

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASKED, _WHO, _PASSED = "Operators: what is asked of one", "Operators: who asks for one", "Operators: passed over"
_NOTE, _FACT, _IMPOSSIBLE = "Operators: notes", "Operators: conflicts", "Operators: wants that nothing meets"
_NEAR, _FIX, _OUTCOME = "Operators: beside a fact", "Operators: fixes", "Operators: outcomes"
_EXPLAINED, _LINT, _FAULT = "Operators: one package", "Operators: findings", "Operators: faults in catalogs"
_API: Final = "group, version, kind"
_VERSIONS: Final = "versions, every"
_REQUIREMENT: Final = "what is asked"
_C = Code

OPERATOR_CODES: Final[Mapping[Code, Documented]] = {
    _C.RULE_ASKED: Documented(_ASKED, "A bundle for which a CEL rule is true.", "expression"),
    _C.PACKAGE_ASKED: Documented(_ASKED, "A bundle of a package, in a range of versions.", "package", "range"),
    _C.API_ASKED: Documented(_ASKED, "A bundle that provides an API.", "", _API),
    _C.LABEL_ASKED: Documented(_ASKED, "A bundle with a label.", "", "label"),
    _C.PROPERTY_ASKED: Documented(_ASKED, "A bundle with a property of this value.", "", "property, value"),
    _C.ALL_ASKED: Documented(_ASKED, "A bundle that all of this is true of.", parts="each of them"),
    _C.ANY_ASKED: Documented(_ASKED, "A bundle that one of this is true of.", parts="each of them"),
    _C.NONE_ASKED: Documented(_ASKED, "A bundle that none of this is true of.", parts="each of them"),
    _C.WANTED: Documented(_WHO, "Somebody wants it. `want` is written as for `--want`.", "package, channel", "want"),
    _C.INSTALLED_UNOWNED: Documented(_WHO, "It is installed, and no want owns it.", "bundle"),
    _C.OPERATOR_NEEDED: Documented(_WHO, "A bundle requires it.", "bundle", parts=_REQUIREMENT),
    _C.OPERATOR_WISHED: Documented(_WHO, "A bundle has an optional requirement of it.", "bundle", parts=_REQUIREMENT),
    _C.BUNDLE_DEPRECATED: Documented(_PASSED, "The bundle is deprecated.", "bundle"),
    _C.BUNDLE_UNREADABLE: Documented(
        _PASSED, "The bundle cannot be used: something in it cannot be read.", "bundle", "pointer, message"
    ),
    _C.PACKAGE_NOT_ALLOWED: Documented(_PASSED, "The package is not among those allowed.", "package"),
    _C.NEED_UNMET: Documented(
        _PASSED, "Nothing meets a requirement of it. `messages` are its author's.", "", "messages", parts=_REQUIREMENT
    ),
    _C.NEED_BLOCKED: Documented(
        _PASSED,
        "Whatever meets a requirement of it cannot be chosen any more.",
        "",
        "messages",
        parts="what is asked; then what stands in the way",
    ),
    _C.PACKAGE_TAKEN: Documented(_PASSED, "Another bundle of the package is chosen already.", "package", "by"),
    _C.API_TAKEN: Documented(_PASSED, "Another bundle that is chosen provides the API.", "", f"by, {_API}"),
    _C.NEEDS_CONFLICT: Documented(
        _PASSED, "What it needs does not go together with the rest; `--explain` tells the whole of it."
    ),
    _C.NO_UPDATE_FITS: Documented(_NOTE, "There are updates, and none of them fits.", "package, bundle"),
    _C.NO_DIRECT_UPDATE: Documented(_NOTE, "There is no direct update.", "package, bundle, channel"),
    _C.FALLS_BACK: Documented(_NOTE, "Another bundle was preferred and could not be.", "package, bundle", "preferred"),
    _C.OTHER_CHANNEL: Documented(
        _NOTE,
        "It does not come from the package's default channel. `broken`: that one cannot be used.",
        "package, channel",
        "default, broken",
    ),
    _C.WISH_UNMET: Documented(_NOTE, "Nothing meets an optional requirement.", "bundle", parts=_REQUIREMENT),
    _C.WISH_DOES_NOT_FIT: Documented(
        _NOTE, "What meets an optional requirement does not fit the rest.", "bundle", parts=_REQUIREMENT
    ),
    _C.DEPRECATION_NOTED: Documented(
        _NOTE,
        "The catalog says that a package, channel or bundle is deprecated.",
        "package, channel, bundle",
        "message",
    ),
    _C.WANT_POSSIBLE: Documented(
        _FACT,
        "A want, and the versions that could meet it; `bundle` is what is installed for it.",
        "package, channel, bundle",
        "want, versions",
    ),
    _C.WANT_IMPOSSIBLE: Documented(_FACT, "A want that nothing can meet.", "package, channel", "want", parts="why not"),
    _C.VERSIONS_NEED: Documented(
        _FACT,
        "Versions of a package have a requirement. `single`: it is one; `every`: there are no others; `more`: how many"
        " packages that meet it are not among the parts.",
        "package",
        f"{_VERSIONS}, single, more",
        parts="what is asked; then who could meet it",
    ),
    _C.VERSIONS_NEED_UNMET: Documented(
        _FACT,
        "Versions of a package have a requirement that nothing meets.",
        "package",
        f"{_VERSIONS}, single",
        parts=_REQUIREMENT,
    ),
    _C.VERSIONS_NEED_MORE: Documented(
        _FACT, "Versions of a package have more such requirements than are told.", "package", f"{_VERSIONS}, of, more"
    ),
    _C.OFFERED: Documented(_FACT, "Versions of a package that could meet a requirement.", "package", "versions"),
    _C.ONE_VERSION_ONLY: Documented(_FACT, "Only one bundle of a package can be there.", "package"),
    _C.ONE_PROVIDER_ONLY: Documented(_FACT, "Only one provider of an API can be there.", "", _API),
    _C.INSTALLED_STAYS: Documented(_FACT, "An installed bundle that no want owns stays.", "bundle"),
    _C.UPDATE_TAKES_PLACE: Documented(_FACT, "An update takes the place of what is installed.", "bundle"),
    _C.VERSIONS_DEPRECATED: Documented(_FACT, "Versions of a package are deprecated.", "package", _VERSIONS),
    _C.VERSIONS_UNUSABLE: Documented(
        _FACT, "Versions of a package cannot be used, because something in them cannot be read.", "package", _VERSIONS
    ),
    _C.RANGE_INVALID: Documented(
        _IMPOSSIBLE, "The range of the want cannot be read.", "package", "want, range, message"
    ),
    _C.CATALOGS_EMPTY: Documented(_IMPOSSIBLE, "No catalog has any operator."),
    _C.CATALOG_HAS_NONE: Documented(
        _IMPOSSIBLE, "The catalog that the want names has no operators.", "package", "want, catalog, namespace"
    ),
    _C.PACKAGE_NOT_FOUND: Documented(_IMPOSSIBLE, "No catalog has the package.", "package", "want"),
    _C.CHANNEL_NOT_FOUND: Documented(_IMPOSSIBLE, "The package has no such channel.", "package, channel", "want"),
    _C.START_NOT_FOUND: Documented(
        _IMPOSSIBLE, "The bundle to begin with is not there.", "package, channel", "want, start"
    ),
    _C.CHANNEL_BROKEN: Documented(
        _IMPOSSIBLE, "The channel of the package has no single order.", "package", parts="what is wrong with it"
    ),
    _C.NO_UPDATE_IN_RANGE: Documented(
        _IMPOSSIBLE, "Neither what is installed nor a direct update of it is in the range.", "bundle", "range, version"
    ),
    _C.NO_VERSION_IN_RANGE: Documented(_IMPOSSIBLE, "No version is in the range.", "package, channel", "range"),
    _C.AUTHOR_SAYS: Documented(_NEAR, "The message of a requirement's author.", "", "message"),
    _C.PROVIDERS: Documented(_NEAR, "The packages that provide an API.", "", "packages"),
    _C.VERSIONS_PRESENT: Documented(_NEAR, "The versions of a package that are there.", "package", "versions"),
    _C.PACKAGE_UNKNOWN: Documented(
        _NEAR, "No catalog has the package. `close` has a similar name.", "package", "close"
    ),
    _C.APIS_PRESENT: Documented(_NEAR, "APIs of the same kind that are there.", "", "apis"),
    _C.LABELS_PRESENT: Documented(_NEAR, "Similar labels that are there.", "", "labels"),
    _C.PROPERTY_DIFFERS: Documented(
        _NEAR, "A bundle has the property with another value.", "bundle", "property, value, not"
    ),
    _C.RULE_FALSE: Documented(
        _NEAR, "A part of a rule is false for a bundle.", "bundle, expression", "properties, messages"
    ),
    _C.RULE_FAILED: Documented(
        _NEAR,
        "A part of a rule cannot be evaluated for a bundle.",
        "bundle, expression",
        "message, properties, messages",
    ),
    _C.MEMBER_MET: Documented(
        _NEAR, "A bundle is one of those that are not wanted.", "bundle", "messages", parts=_REQUIREMENT
    ),
    _C.MEMBER_UNMET: Documented(
        _NEAR,
        "A bundle meets other parts of a requirement, and not this one.",
        "bundle",
        "messages",
        parts=_REQUIREMENT,
    ),
    _C.NOT_A_CANDIDATE: Documented(
        _NEAR, "A bundle meets the requirement and cannot be chosen, because of its channel or catalog.", "bundle"
    ),
    _C.DROP_WANTS: Documented(_FIX, "Drop these wants.", "", "wants"),
    _C.UNINSTALL: Documented(_FIX, "Uninstall a bundle.", "bundle"),
    _C.ALLOW_PACKAGE: Documented(_FIX, "Allow a package.", "package"),
    _C.ALLOW_VERSION: Documented(_FIX, "Allow another version.", "package", "version"),
    _C.BEGIN_ELSEWHERE: Documented(_FIX, "Do not begin at that bundle.", "package", "start"),
    _C.USE_CHANNEL: Documented(_FIX, "Use another channel.", "package, channel"),
    _C.NOT_DECIDED: Documented(_OUTCOME, "The time was up. Nothing is known.", "", "seconds"),
    _C.INPUT_REFUSED: Documented(
        _OUTCOME, "In the dialect of OLM v0: faults in the input fail the resolution.", "", "faults"
    ),
    _C.BUNDLE_CHOSEN: Documented(_EXPLAINED, "A bundle of the package is chosen.", "package, bundle"),
    _C.OTHERS_PREFERRED: Documented(
        _EXPLAINED, "The package could meet a requirement, and others were preferred.", "package"
    ),
    _C.NOTHING_ASKS: Documented(_EXPLAINED, "Nothing asks for the package.", "package"),
    _C.NO_CATALOG_HAS: Documented(_EXPLAINED, "No catalog has the package.", "package"),
    _C.LESS_PREFERRED: Documented(
        _EXPLAINED, "The bundle is possible and was less preferred.", "package, channel, bundle", "catalog"
    ),
    _C.CANNOT_BE: Documented(
        _EXPLAINED,
        "The bundle cannot be. `preferred`: it was tried before the one that is chosen.",
        "package, channel, bundle",
        "catalog, preferred",
        parts="facts that exclude it",
    ),
    _C.MORE_LESS_PREFERRED: Documented(_EXPLAINED, "So many more bundles are not told of.", "", "more"),
    _C.CONSTRAINT_INVALID: Documented(
        _LINT, "A constraint cannot be read. `pointer` is where, if it is not said elsewhere.", "", "message, pointer"
    ),
    _C.CONSTRAINT_MEANINGLESS: Documented(_LINT, "A property looks like a constraint and is none.", "", "property"),
    _C.CONSTRAINT_LARGE: Documented(_LINT, "A constraint is larger than is documented.", "", "bytes, documented, most"),
    _C.CONSTRAINT_DEEP: Documented(_LINT, "A constraint is nested deeper than is documented.", "", "documented"),
    _C.FIELD_SPELLING: Documented(_LINT, "A field is spelled in another case.", "", "field, written"),
    _C.SEVERAL_KINDS: Documented(_LINT, "A constraint has several kinds, of which the first counts.", "", "kinds"),
    _C.EMPTY_LIST: Documented(_LINT, "`all`, `any` or `not` has no constraints.", "", "kind"),
    _C.RANGE_HYPHEN: Documented(_LINT, "A range looks like a hyphen range and is none.", "", "range"),
    _C.RANGE_EMPTY: Documented(_LINT, "A range matches nothing.", "", "range"),
    _C.RANGE_HAS_PRERELEASES: Documented(
        _LINT, "A range contains pre-releases of its upper bound.", "", "range, version"
    ),
    _C.TOP_LEVEL_NOT: Documented(_LINT, "A negation that almost every bundle meets."),
    _C.MEETS_ITSELF: Documented(_LINT, "A bundle meets its own requirement.", parts=_REQUIREMENT),
    _C.NOTHING_MEETS: Documented(
        _LINT, "Nothing in the catalogs meets a requirement.", parts="what is asked; then what came nearest"
    ),
    _C.RANGES_CONTRADICT: Documented(
        _LINT, "A bundle needs a package in ranges that no version is in.", "package", "ranges"
    ),
    _C.CHANNEL_UNORDERED: Documented(
        _LINT, "A channel has no single order.", "package, channel", parts="what is wrong with it"
    ),
    _C.CHANNEL_WITHOUT_HEAD: Documented(
        _FAULT, "Every entry of the channel is replaced by another one.", "package, channel"
    ),
    _C.CHANNEL_WITH_SEVERAL_HEADS: Documented(
        _FAULT, "The channel has several chains of replacement.", "package, channel", "chains"
    ),
    _C.CHANNEL_CYCLE: Documented(_FAULT, "Entries of the channel replace each other.", "package, channel, bundle"),
    _C.CHANNEL_TWICE: Documented(_FAULT, "The channel is there twice, with different entries.", "package, channel"),
    _C.ENTRIES_UNREADABLE: Documented(
        _FAULT, "The entries of the channel cannot be read.", "package, channel", "message"
    ),
    _C.ENTRIES_TWICE: Documented(_FAULT, "The channel lists entries more than once.", "package, channel", "entries"),
    _C.ENTRY_WITHOUT_BUNDLE: Documented(
        _FAULT, "The channel lists an entry that no bundle is.", "package, channel, bundle"
    ),
    _C.BUNDLE_WITHOUT_CHANNEL: Documented(_FAULT, "The bundle is in no channel.", "package, bundle"),
    _C.BUNDLE_TWICE: Documented(_FAULT, "The bundle is there twice, with different contents.", "package, bundle"),
    _C.BUNDLE_UNUSABLE: Documented(_FAULT, "A constraint of the bundle cannot be read.", "bundle", "message"),
    _C.BUNDLE_DIRECTORY_INVALID: Documented(_FAULT, "The bundle directory cannot be read.", "", "message"),
    _C.VALUE_TOO_DEEP: Documented(
        _FAULT, "The value of a property nests too deeply.", "package, bundle", "property, most"
    ),
    _C.PACKAGE_TWICE: Documented(
        _FAULT, "The package is there twice, with different default channels.", "package", "first, second"
    ),
    _C.DEPRECATIONS_UNREADABLE: Documented(_FAULT, "Deprecations cannot be read.", "package", "message"),
    _C.BLOB_UNREADABLE: Documented(_FAULT, "The blob has not the shape of one.", "", "message"),
    _C.BLOB_NOT_JSON: Documented(_FAULT, "The blob has values that JSON has not.", "", "message"),
    _C.BLOB_TOO_LARGE: Documented(_FAULT, "The blob is too large.", "", "most"),
    _C.BLOB_WITHOUT_SCHEMA: Documented(_FAULT, "The blob does not say what it is."),
    _C.DOCUMENT_TOO_LARGE: Documented(_FAULT, "The YAML document is too large.", "", "most"),
    _C.JSON_INVALID: Documented(_FAULT, "The text is not JSON. The blob begins in `line`.", "", "message, line"),
    _C.YAML_INVALID: Documented(_FAULT, "The text is not YAML.", "", "message"),
    _C.FILE_UNREADABLE: Documented(_FAULT, "The file cannot be read.", "", "message"),
    _C.GZIP_BROKEN: Documented(_FAULT, "The file is not a whole gzip file.", "", "message"),
    _C.GZIP_INVALID: Documented(_FAULT, "The value of a ConfigMap is not a gzip file.", "", "message"),
    _C.UNPACKED_TOO_LARGE: Documented(_FAULT, "The value of a ConfigMap is too large when unpacked.", "", "most"),
    _C.FILE_NAME_UNKNOWN: Documented(_FAULT, "The name of a value of a ConfigMap does not say what it is."),
    _C.CATALOG_UNAVAILABLE: Documented(_FAULT, "The catalog as a whole cannot be used.", "", "message"),
    _C.INSTALLED_UNREADABLE: Documented(_FAULT, "What is installed is not in order.", "", "message"),
    _C.INSTALLED_AMBIGUOUS: Documented(
        _FAULT, "Several installed bundles belong to one want.", "package", "want, namespace, bundles"
    ),
}
