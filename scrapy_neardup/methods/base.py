"""The interface of a method of near-duplicate detection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal

from ..exceptions import InvalidOption, MethodFailed


class Method(ABC):
    """Turns a text or a file into a short value, and compares values.

    Values are bytes, so that one index and one file format serve all methods. A subclass is a
    frozen dataclass, whose fields are the parameters that users can write after its name.

    :cvar name: what users write.
    :cvar reads: ``"text"``, the main text of a page, or ``"bytes"``, its body or a file as it is.
    :cvar counts: names of parameters that are from 1 to ``max_count``.
    :cvar max_count: greatest value of these; more would take seconds for a long page.
    :cvar short_texts: whether texts of few words can be compared.
    :ivar min_similarity: least similarity of near-duplicates, 0 to 1.
    """

    name: ClassVar[str]
    reads: ClassVar[Literal["text", "bytes"]] = "text"
    counts: ClassVar[tuple[str, ...]] = ()
    max_count: ClassVar[int] = 4096
    short_texts: ClassVar[bool] = False
    min_similarity: float

    def __post_init__(self) -> None:
        for name in self.counts:
            if not 1 <= getattr(self, name) <= self.max_count:
                raise InvalidOption(name, getattr(self, name), f"1 to {self.max_count}")
        # A method of the user's own may lack it.
        least = getattr(self, "min_similarity", None)
        if least is None or not 0 < least <= 1:
            raise InvalidOption("min_similarity", least, "above 0, at most 1")

    @abstractmethod
    def value(self, content: str | bytes) -> bytes:
        """Return the value of a text or a file; ``b""`` if there is too little to compare.

        :param content: text for ``reads = "text"``, else bytes.
        """

    @abstractmethod
    def similarity(self, new: bytes, known: bytes) -> float:
        """Return how much of the new content is in the known one, 0 to 1, from their values.

        Most methods are symmetric; containment is not. Neither value is empty.
        """

    def keys(self, value: bytes) -> Iterable[int] | None:
        """Return the keys of a value: near-duplicates have some in common.

        :returns: ``None`` for a method without keys, all of whose values have to be compared.
        """
        return None

    def keys_in_common(self, value: bytes) -> int:
        """Return how many keys, 1 or more, a value has in common with each near-duplicate."""
        return 1

    def explain(self, new: bytes, known: bytes) -> str:
        """Return in the method's own terms how two values differ."""
        return f"similarity {self.similarity(new, known):.3f}"

    def describe(self, value: bytes) -> str:
        """Return the value, or its size, as people read it."""
        return value.hex() if len(value) <= 32 else f"{len(value):,} bytes"

    @property
    def requirement(self) -> str:
        """The least that near-duplicates must reach, in the method's own terms."""
        return f"at least {self.min_similarity:g}"

    def is_near(self, new: bytes, known: bytes) -> bool:
        """Return whether the new content counts as a near-duplicate of the known one."""
        return self.similarity(new, known) >= self.min_similarity


@contextmanager
def guarded(method: Method) -> Iterator[None]:
    """Raise what a method raises, which may be the user's own, as :exc:`MethodFailed`.

    A lack of memory stays what it is.
    """
    try:
        yield
    except (MemoryError, MethodFailed):
        raise
    except Exception as error:
        raise MethodFailed(method.name, error) from error
