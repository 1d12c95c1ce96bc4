"""The URLs of a site that were fetched, grouped by what rules leave of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from .skeletons import ReducedUrl
from .url_parts import UrlParts

#: Other URLs of the same content that are returned at most.
_MAX_SAME_CONTENT = 4


@dataclass(slots=True, eq=False)
class VisitedUrl:
    """A URL that was fetched, or is being fetched.

    :ivar normalized: what the rules in force leave of it.
    :ivar trial: what is left of it when the rules on trial are applied as well.
    :ivar content: of its page; ``None`` until that is judged.
    :ivar observation: the number of the observation that judged it.
    """

    parts: UrlParts
    digest: int
    normalized: ReducedUrl
    trial: ReducedUrl
    content: int | None = None
    observation: int = 0


class VisitedUrls:
    """Visited URLs by their digests, by what is left of them, and by their contents.

    :param most: the number that is kept; beyond it, the oldest judged one is forgotten.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # A plain dict takes long to find its first entry when many before it were deleted.
        self._all: OrderedDict[int, VisitedUrl] = OrderedDict()
        self._by_normalized: dict[int, list[VisitedUrl]] = {}
        self._by_trial: dict[int, list[VisitedUrl]] = {}
        self._by_content: dict[int, list[VisitedUrl]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[VisitedUrl]:
        return iter(self._all.values())

    def get(self, digest: int) -> VisitedUrl | None:
        return self._all.get(digest)

    def with_normalized(self, digest: int) -> list[VisitedUrl]:
        """Return those of which the rules in force leave the same."""
        return self._by_normalized.get(digest, [])

    def judged_with_trial(self, digest: int) -> Iterator[VisitedUrl]:
        """Return judged ones of which the rules on trial leave the same."""
        return (url for url in self._by_trial.get(digest, ()) if url.content is not None)

    def add(self, visited: VisitedUrl) -> None:
        self._all[visited.digest] = visited
        self._group(visited)
        if len(self._all) > self._most:
            judged = (other for other in self._all.values() if other.content is not None)
            self.remove(next(judged, visited))

    def remove(self, visited: VisitedUrl) -> None:
        if self._all.pop(visited.digest, None) is not None:
            self._ungroup(visited)
            if visited.content is not None:
                _remove_from(self._by_content, visited.content, visited)

    def judge(self, visited: VisitedUrl, content: int, observation: int) -> list[VisitedUrl]:
        """Set the content of a URL, and return some others of the same content."""
        if visited.content is not None:
            _remove_from(self._by_content, visited.content, visited)
        visited.content, visited.observation = content, observation
        same = self._by_content.setdefault(content, [])
        others = same[:_MAX_SAME_CONTENT]
        same.append(visited)
        return others

    def change(self, visited: VisitedUrl, normalized: ReducedUrl, trial: ReducedUrl) -> None:
        """Set what is left of a URL by changed rules."""
        self._ungroup(visited)
        visited.normalized, visited.trial = normalized, trial
        self._group(visited)

    def _group(self, visited: VisitedUrl) -> None:
        self._by_normalized.setdefault(visited.normalized.digest, []).append(visited)
        self._by_trial.setdefault(visited.trial.digest, []).append(visited)

    def _ungroup(self, visited: VisitedUrl) -> None:
        _remove_from(self._by_normalized, visited.normalized.digest, visited)
        _remove_from(self._by_trial, visited.trial.digest, visited)


def _remove_from(groups: dict[int, list[VisitedUrl]], digest: int, visited: VisitedUrl) -> None:
    group = groups[digest]
    group.remove(visited)
    if not group:
        del groups[digest]
