"""Reasons why a page is a duplicate, is not one, or cannot be judged."""

from __future__ import annotations

from enum import Enum


class Reason(str, Enum):
    """The reasons of verdicts, stats and reports; each equals its string; see docs/settings.md."""

    # Two pages have the same content.
    SAME_PAGE = "same_page"
    SAME_LIST = "same_list"
    SAME_TEXT = "same_text"
    SIMILAR_TEXT = "similar_text"
    SAME_ITEM = "same_item"
    METHOD = "method"
    # A page is new, or was stored before.
    NO_MATCH = "no_match"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    # Two pages do not have the same content.
    OTHER_SITE = "other_site"
    TITLE_DIFFERS = "title_differs"
    SIZE_DIFFERS = "size_differs"
    ONLY_BOILERPLATE_ALIKE = "only_boilerplate_alike"
    PARTS_DIFFER = "parts_differ"
    FACTS_UNKNOWN = "facts_unknown"
    FAR = "far"
    TEXT_DIFFERS = "text_differs"
    SITE_UNKNOWN = "site_unknown"
    VALUES_DIFFER = "values_differ"
    # A page cannot be compared, alone or with another.
    NO_TEXT = "no_text"
    NO_FIELD = "no_field"
    FEW_FEATURES = "few_features"
    THIN_TEXT = "thin_text"
    NEEDS_SCRIPTS = "needs_scripts"
    SOFT_404 = "soft_404"
    CROWDED = "crowded"
    # A page cannot be read.
    EXTRACTION_FAILED = "extraction_failed"
    TOO_LARGE = "too_large"
    TOO_MANY_TAGS = "too_many_tags"
    TOO_MANY_ATTRIBUTES = "too_many_attributes"
    TOO_NESTED = "too_nested"
    TEXT_TOO_LONG = "text_too_long"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    WORKER_DIED = "worker_died"
    NO_WORKER = "no_worker"
    FAILED = "failed"
    # The store cannot say.
    WAITED = "waited"
    BODY_GONE = "body_gone"
    STORE_UNREACHABLE = "store_unreachable"
    # A response is not judged.
    DISABLED = "disabled"
    BAD_META = "bad_meta"
    NOT_TEXT = "not_text"
    NO_OUTPUT = "no_output"
    CALLBACK_FAILED = "callback_failed"

    # Python 3.12 would format members as "Reason.FAR".
    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]
    __repr__ = str.__repr__


#: Why a pair has one content, and not only nearly so: what equals a page equals its equals.
REASONS_OF_EQUALITY = frozenset((Reason.SAME_PAGE, Reason.SAME_LIST, Reason.SAME_TEXT))
#: Reasons of pages with too little text to compare.
TOO_LITTLE_TEXT = frozenset((Reason.NO_TEXT, Reason.FEW_FEATURES, Reason.THIN_TEXT))
