"""The tree of errors. Each one carries the values that a handler needs."""

from __future__ import annotations

from typing import Any


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

    def __init__(self, recipe: str, other: str) -> None:
        super().__init__(
            f"a signature made by recipe {other} cannot be compared with those of recipe {recipe}: "
            "tokenizer, dictionary, IDF table, extractor and secret must be the same"
        )
        #: Recipe that was expected.
        self.recipe = recipe
        #: Recipe that was met.
        self.other = other


class ExtractionError(NearDupError):
    """An extractor failed on a page; the page cannot be judged."""

    def __init__(self, extractor: str, cause: Exception) -> None:
        super().__init__(f"extractor {extractor} failed: {cause!r}")
        self.extractor = extractor
        self.cause = cause
