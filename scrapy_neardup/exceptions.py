"""All errors of the package, and the values that handlers need.

::

    NearDupError
    ├── InvalidOption (ValueError)
    ├── SignatureMismatch (ValueError)
    ├── InputError
    ├── StoreError
    │   ├── StoreMissing
    │   ├── StoreInUse
    │   └── StoreUnreachable
    ├── UnreadablePage
    │   ├── ExtractionError
    │   ├── NeedsScripts
    │   └── LimitExceeded
    └── WorkersFailed

Errors that Scrapy's components raise to Scrapy are subclasses of its own and stand beside the
components: ``pipelines.NearDuplicate`` and ``UnchangedPage`` (DropItem),
``downloadermiddlewares.SuperfluousRequest`` (IgnoreRequest).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .reasons import Reason


class NearDupError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidOption(NearDupError, ValueError):
    """A setting, an argument or a meta key has a value that it cannot have."""

    def __init__(self, option: str, value: Any, expected: str) -> None:
        super().__init__(f"{option} is {value!r}, but it must be {expected}")
        #: Name under which the user knows the option.
        self.option = option
        #: The refused value.
        self.value = value
        #: What would be right, in words.
        self.expected = expected

    def renamed(self, option: str) -> InvalidOption:
        """The same complaint under the name that the user wrote."""
        return type(self)(option, self.value, self.expected)


class SignatureMismatch(NearDupError, ValueError):
    """Two signatures were made in different ways and cannot be compared."""

    def __init__(
        self,
        recipe: str,
        other: str,
        parts: Mapping[str, str] | None = None,
        other_parts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            f"a signature made by recipe {other} cannot be compared with those of recipe {recipe}: "
            "tokenizer, dictionary, IDF table, extractor and secret must be the same"
            + _differences(parts or {}, other_parts or {})
        )
        #: Recipe that was expected.
        self.recipe = recipe
        #: Recipe that was met.
        self.other = other


def _differences(parts: Mapping[str, str], other_parts: Mapping[str, str]) -> str:
    """What was another then, where that is known, and what to do about it."""
    if not parts:
        return ""
    told = [
        f"the {name} was {parts[name]} and is {other_parts[name]} now"
        for name in parts
        if name in other_parts and parts[name] != other_parts[name]
    ]
    return (
        f" ({', '.join(told) or 'the parts have the same names, but were others'}). Set back what "
        "was changed, or give a new store or namespace"
    )


class StoreError(NearDupError):
    """A store cannot be used."""

    def __init__(self, store: str, problem: str) -> None:
        super().__init__(f"store {store}: {problem}")
        #: The store's address, without a password.
        self.store = store
        #: What is wrong, and what would help.
        self.problem = problem


class StoreMissing(StoreError):
    """There is no store at an address where one was to be found."""


class StoreInUse(StoreError):
    """Another process holds a store that only one may have."""


class StoreUnreachable(StoreError):
    """A store gave no answer; it may give one later."""


class UnreadablePage(NearDupError):
    """A page cannot be read, and so cannot be judged."""

    #: Why, as verdicts and stats name it.
    reason: Reason


class ExtractionError(UnreadablePage):
    """An extractor failed on a page."""

    reason = Reason.EXTRACTION_FAILED

    def __init__(self, extractor: str, cause: Exception) -> None:
        super().__init__(f"extractor {extractor} failed: {cause!r}")
        self.extractor = extractor
        self.cause = cause


class NeedsScripts(UnreadablePage):
    """A page shows next to nothing of its content until its scripts have run."""

    reason = Reason.NEEDS_SCRIPTS

    def __init__(self) -> None:
        super().__init__(
            "scripts have yet to make its content, so that it shows what all such pages of its "
            "site show: render it before it is judged, or judge what the spider reads of it "
            "(NEARDUP_ITEM_FIELD)"
        )


class LimitExceeded(UnreadablePage):
    """A page is beyond what is read of any page."""

    _WHAT: ClassVar = {
        Reason.TOO_LARGE: "bytes",
        Reason.TOO_MANY_TAGS: "tags",
        Reason.TOO_MANY_ATTRIBUTES: "attributes on one tag",
        Reason.TOO_NESTED: "elements in one another",
        Reason.TEXT_TOO_LONG: "characters of text",
    }

    def __init__(self, reason: Reason, value: int, bound: int) -> None:
        super().__init__(
            f"the page has at least {value:,} {self._WHAT[reason]}, but {bound:,} is the most that "
            "is read"
        )
        #: ``"too_large"``, ``"too_many_tags"``, ``"too_many_attributes"``, ``"too_nested"`` or
        #: ``"text_too_long"``.
        self.reason = reason
        #: What was counted; the counting may have ended before the page did.
        self.value = value
        #: What it may be at most.
        self.bound = bound

    def __reduce__(self) -> tuple[type[LimitExceeded], tuple[Reason, int, int]]:
        return type(self), (self.reason, self.value, self.bound)


class InputError(NearDupError):
    """An input cannot be used; the message says which one and why."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class WorkersFailed(NearDupError):
    """No worker process can be started."""
