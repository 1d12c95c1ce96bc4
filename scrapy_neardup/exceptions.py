"""All errors of the package; all are subclasses of :class:`NearDupError`.

The Scrapy components define their own subclasses of Scrapy's exceptions:
``pipelines.NearDuplicate`` and ``UnchangedPage`` (DropItem),
``downloadermiddlewares.SuperfluousRequest`` (IgnoreRequest).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .reasons import Reason


class NearDupError(Exception):
    """Base of every error that this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers raise them, and their arguments are not those of the constructor.
        return _copied, (type(self), self.args), self.__dict__


def _copied(kind: type[NearDupError], arguments: tuple[Any, ...]) -> NearDupError:
    error = kind.__new__(kind)
    error.args = arguments
    return error


class InvalidOption(NearDupError, ValueError):
    """A setting, an argument or a meta key has an invalid value.

    :ivar option: the option's name, as the user wrote it.
    :ivar value: the invalid value.
    :ivar expected: description of the valid values.
    """

    def __init__(self, option: str, value: Any, expected: str) -> None:
        super().__init__(f"{option} is {value!r}, but it must be {expected}")
        self.option = option
        self.value = value
        self.expected = expected

    def renamed(self, option: str) -> InvalidOption:
        """Return the same error for another name of the option."""
        return type(self)(option, self.value, self.expected)


class UnfitOption(InvalidOption):
    """An option is missing, or is given with others that it does not go with.

    :ivar value: how it was given, such as ``"missing"`` or ``"given alone"``.
    """

    def __init__(self, option: str, value: str, expected: str) -> None:
        super().__init__(option, value, expected)
        link = ": it" if value == "missing" else ", but it"
        self.args = (f"{option} is {value}{link} must be {expected}",)


class MissingPackage(InvalidOption):
    """An option needs a package that is not installed.

    :ivar expected: how to install it, and what to choose without it.
    """

    def __init__(self, option: str, value: Any, expected: str) -> None:
        super().__init__(option, value, expected)
        self.args = (f"{option} is {value!r}, which needs a package: {expected}",)


class InvalidPage(NearDupError, TypeError):
    """The arguments that describe a page are missing, too many, or of another type."""


class SignatureMismatch(NearDupError, ValueError):
    """Two signatures were made by different recipes and cannot be compared.

    :ivar recipe: the expected recipe.
    :ivar other: the recipe of the signature that was given.

    :param parts: the parts of the expected recipe, which is that of a store, if they are known.
    :param other_parts: the parts of the recipe that is in use.
    :param problem: why the parts of a store's recipe are not known, and the remedy.
    """

    def __init__(
        self,
        recipe: str,
        other: str,
        parts: Mapping[str, str] | None = None,
        other_parts: Mapping[str, str] | None = None,
        *,
        problem: str = "",
    ) -> None:
        recipes = (
            f"signatures of recipes {other} and {recipe} cannot be compared: tokenizer, "
            "dictionary, IDF table, extractor, extraction (full or lazy), method and secret must "
            "be the same"
        )
        if parts:
            problem = _difference(parts, other_parts or {})
        super().__init__(f"{problem} ({recipes})" if problem else recipes)
        self.recipe = recipe
        self.other = other


def _difference(parts: Mapping[str, str], other_parts: Mapping[str, str]) -> str:
    """Describe which parts of a store's recipe differ from those in use, and the remedy."""
    if other_parts:
        # Parts that are named only where they are not the default.
        defaults = {"extraction": "full", "method": "none"}
        parts, other_parts = ({**defaults, **each} for each in (parts, other_parts))
    changed = [name for name in parts if name in other_parts and parts[name] != other_parts[name]]
    made, used = (
        " and ".join(f"{name} {each[name]}" for name in changed) for each in (parts, other_parts)
    )
    difference = f"{made}, but is used with {used}" if changed else "another version of a part"
    return (
        f"the store was made with {difference}: restore the previous configuration, or use a new "
        "store or namespace"
    )


class StoreError(NearDupError):
    """A store cannot be used.

    :ivar store: the store's address, without a password.
    :ivar problem: the problem and, if there is one, its remedy.
    """

    def __init__(self, store: str, problem: str) -> None:
        super().__init__(f"store {store}: {problem}")
        self.store = store
        self.problem = problem


class StoreMissing(StoreError):
    """No store exists at an address."""


class StoreInUse(StoreError):
    """Another process has opened a store that allows only one."""


class StoreUnreachable(StoreError):
    """A store does not answer; it may answer later."""


class UnreadablePage(NearDupError):
    """A page cannot be read, and so cannot be judged.

    :ivar reason: given in verdicts and stats.
    """

    reason: Reason


class ExtractionError(UnreadablePage):
    """An extractor failed on a page."""

    reason = Reason.EXTRACTION_FAILED

    def __init__(self, extractor: str, cause: Exception) -> None:
        super().__init__(f"extractor {extractor} failed: {cause!r}")
        self.extractor = extractor
        self.cause = cause


class NeedsScripts(UnreadablePage):
    """A page has next to no content until its scripts have run."""

    reason = Reason.NEEDS_SCRIPTS

    def __init__(self) -> None:
        super().__init__(
            "the page's content is filled in by scripts, which have not run: render the page "
            "before it is judged, or judge a field of its items (NEARDUP_ITEM_FIELD)"
        )


class MethodFailed(UnreadablePage):
    """A method failed on a page, or on two values."""

    reason = Reason.FAILED

    def __init__(self, method: str, cause: Exception) -> None:
        super().__init__(f"method {method} failed: {cause!r}")
        self.method = method
        self.cause = cause


class LimitExceeded(UnreadablePage):
    """A page exceeds one of the :class:`~scrapy_neardup.html.limits.PageLimits`.

    :ivar reason: ``"too_large"``, ``"too_many_tags"``, ``"too_many_attributes"``,
        ``"too_nested"`` or ``"text_too_long"``.
    :ivar value: the value found; counting may have stopped before the end of the page.
    :ivar bound: the highest value allowed.
    """

    _UNITS: ClassVar = {
        Reason.TOO_LARGE: "bytes",
        Reason.TOO_MANY_TAGS: "tags",
        Reason.TOO_MANY_ATTRIBUTES: "attributes on one tag",
        Reason.TOO_NESTED: "levels of nesting",
        Reason.TEXT_TOO_LONG: "characters of text",
    }

    def __init__(self, reason: Reason, value: int, bound: int) -> None:
        super().__init__(
            f"the page has at least {value:,} {self._UNITS[reason]}; the limit is {bound:,}"
        )
        self.reason = reason
        self.value = value
        self.bound = bound

    def __reduce__(self) -> tuple[type[LimitExceeded], tuple[Reason, int, int]]:
        return type(self), (self.reason, self.value, self.bound)


class InputError(NearDupError):
    """An input cannot be used; the message names it and says why."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class WorkersFailed(NearDupError):
    """No worker process can be started."""


class EngineFailed(NearDupError):
    """The engine that runs the tasks of a cluster has failed; what is done stays done."""


class WorkFolderTaken(NearDupError, ValueError):
    """The work folder belongs to a run of another input, recipe or rule, or to something else."""

    def __init__(self, folder: str, owner: str) -> None:
        super().__init__(f"{folder} {owner}")


class WorkFolderDamaged(NearDupError):
    """A file of the work folder is missing, or is not what a run wrote."""

    def __init__(self, folder: str, file: str, problem: str) -> None:
        super().__init__(
            f"{folder}: {file} {problem}; wait if another run is using the folder, else remove it "
            "and run again"
        )
