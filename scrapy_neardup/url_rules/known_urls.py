"""The URLs of a site that were fetched or skipped, and what rules leave of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from .path_patterns import PathPatterns
from .rule import UrlRule
from .rule_set import RuleSet
from .url_parts import ReducedUrl, UrlParts, UrlReducer

#: Visited URLs of a site that are known at most.
MAX_URLS = 10_000
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


@dataclass(slots=True, eq=False)
class SkippedUrl:
    """A URL that was skipped.

    :ivar normalized: what the rules in force leave of it.
    :ivar rules: those by which it was skipped.
    :ivar request: is handed back if it must be made; nothing here looks at it.
    """

    parts: UrlParts
    digest: int
    normalized: ReducedUrl
    rules: tuple[UrlRule, ...]
    request: Any = None


_Url = TypeVar("_Url", VisitedUrl, SkippedUrl)


class _Groups(Generic[_Url]):
    """URLs that have a number in common, by that and by their own digests.

    Most numbers have one URL, which is held without a dictionary of its own, to save memory.
    """

    def __init__(self) -> None:
        self._groups: dict[int, _Url | dict[int, _Url]] = {}

    def add(self, number: int, url: _Url) -> None:
        held = self._groups.get(number)
        if isinstance(held, dict):
            held[url.digest] = url
        elif held is None or held.digest == url.digest:
            self._groups[number] = url
        else:
            self._groups[number] = {held.digest: held, url.digest: url}

    def remove(self, number: int, url: _Url) -> None:
        held = self._groups[number]
        if isinstance(held, dict):
            del held[url.digest]
            if held:
                return
        del self._groups[number]

    def of(self, number: int) -> Collection[_Url]:
        held = self._groups.get(number)
        if held is None:
            return ()
        return held.values() if isinstance(held, dict) else (held,)


class _Urls(Generic[_Url]):
    """URLs by their digests, and by what the rules in force leave of them."""

    def __init__(self) -> None:
        # A plain dict takes long to find its first entry when many before it were deleted.
        self._all: OrderedDict[int, _Url] = OrderedDict()
        self._by_normalized: _Groups[_Url] = _Groups()

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[_Url]:
        return iter(self._all.values())

    def __contains__(self, url: _Url) -> bool:
        return self._all.get(url.digest) is url

    def with_normalized(self, digest: int) -> Collection[_Url]:
        """Return those of which the rules in force leave the same."""
        return self._by_normalized.of(digest)

    def add(self, url: _Url) -> None:
        if (before := self._all.get(url.digest)) is not None:
            self.remove(before)
        self._all[url.digest] = url
        self._by_normalized.add(url.normalized.digest, url)

    def remove(self, url: _Url) -> None:
        del self._all[url.digest]
        self._by_normalized.remove(url.normalized.digest, url)

    def normalize(self, url: _Url, normalized: ReducedUrl) -> None:
        """Set what changed rules leave of a URL."""
        self._by_normalized.remove(url.normalized.digest, url)
        url.normalized = normalized
        self._by_normalized.add(normalized.digest, url)


class VisitedUrls(_Urls[VisitedUrl]):
    """Visited URLs, also by what the rules on trial leave of them, and by their contents.

    Of more than :data:`MAX_URLS`, the oldest judged one is forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self._by_trial: _Groups[VisitedUrl] = _Groups()
        self._by_content: _Groups[VisitedUrl] = _Groups()

    def get(self, digest: int) -> VisitedUrl | None:
        return self._all.get(digest)

    def judged_with_trial(self, digest: int) -> Iterator[VisitedUrl]:
        """Return judged ones of which the rules on trial leave the same."""
        return (url for url in self._by_trial.of(digest) if url.content is not None)

    def add(self, url: VisitedUrl) -> None:
        super().add(url)
        self._by_trial.add(url.trial.digest, url)
        if len(self) > MAX_URLS:
            judged = (other for other in self if other.content is not None)
            self.remove(next(judged, url))

    def remove(self, url: VisitedUrl) -> None:
        super().remove(url)
        self._by_trial.remove(url.trial.digest, url)
        if url.content is not None:
            self._by_content.remove(url.content, url)

    def judge(self, visited: VisitedUrl, content: int, observation: int) -> list[VisitedUrl]:
        """Set the content of a URL, and return some others of the same content."""
        if visited.content is not None:
            self._by_content.remove(visited.content, visited)
        visited.content, visited.observation = content, observation
        others = list(islice(self._by_content.of(content), _MAX_SAME_CONTENT))
        self._by_content.add(content, visited)
        return others

    def try_out(self, visited: VisitedUrl, trial: ReducedUrl) -> None:
        """Set what changed rules on trial leave of a URL."""
        self._by_trial.remove(visited.trial.digest, visited)
        visited.trial = trial
        self._by_trial.add(trial.digest, visited)


class SkippedUrls(_Urls[SkippedUrl]):
    """Skipped URLs."""

    def drop(self, number: int) -> int:
        """Forget URLs, those of the best proven rules first, and return how many."""
        proof = {rule: rule.evidence.agreements for one in self for rule in one.rules}
        by_proof = sorted(
            self,
            key=lambda one: min((proof[rule] for rule in one.rules), default=0),
            reverse=True,
        )[:number]
        for skipped in by_proof:
            self.remove(skipped)
        return len(by_proof)


class KnownUrls:
    """The visited and the skipped URLs of a site, and the ways in which they are reduced.

    :ivar normalizer: leaves out what the rules in force leave out.
    :ivar trial_reducer: leaves out what is on trial as well.
    """

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.visited = VisitedUrls()
        self.skipped = SkippedUrls()
        self.patterns = PathPatterns()
        self.normalizer = UrlReducer(self.patterns, rules.is_applied, rules.applied)
        self.trial_reducer = UrlReducer(self.patterns, rules.is_on_trial, rules.on_trial)

    def visit(self, parts: UrlParts, digest: int) -> VisitedUrl:
        """Add a URL that is being fetched."""
        normalized = self.normalizer.reduce(parts, digest)
        trial = self.trial_reducer.reduce(parts, digest)
        if trial == normalized:  # as mostly; one object is enough then
            trial = normalized
        visited = VisitedUrl(parts, digest, normalized, trial)
        self.visited.add(visited)
        return visited
