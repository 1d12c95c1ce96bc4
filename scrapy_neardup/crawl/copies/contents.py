"""The contents of a crawl: the original of each, the number of its copies, and its best URL.

A page may declare the URL of its content (``<link rel="canonical">``). Templates often declare a
wrong one, such as that of the front page, so a declaration is ignored if the URL

- is of another site. The page there may declare its own URL;
- is that of a list, while the page is none;
- showed another content, an error 404 or 410 or a soft 404, or pages of another content declare it
  too;
- belongs to a page that declares another URL.

The best URL does not depend on the order in which the URLs of a content are met.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from scrapy.utils.datatypes import LocalCache

from ..._util.encoding import utf8
from ..._util.url_preference import preference
from ..._util.urls import is_list, page_key, site_of
from ...matching.verdict import Verdict
from ...reasons import Reason

#: Contents that are remembered, and URLs of which it is known what they show; the oldest go first.
MAX_CONTENTS, _MAX_URLS = 50_000, 100_000
#: Declared URLs of one content that are remembered, the best ones.
_MAX_DECLARED = 8
_MAX_URL_CHARS = 2048

#: Stands for a URL that is not taken for the declared one of any content.
_NO_CONTENT = ""


@dataclass(slots=True)
class Content:
    """A content that the crawl has met.

    :ivar cluster: 20 hexadecimal digits, the same for one original in every crawl.
    :ivar original: URL of the page that is stored, or of the first one.
    :ivar copies: number of its copies that were met.
    :ivar met: the best of the URLs where it was met.
    :ivar met_before: the best URL where an earlier run met it, if it is none that was declared.
    :ivar declared: URLs that its pages declare as theirs.
    :ivar recorded_best: the best URL that was last recorded.
    """

    cluster: str
    original: str
    copies: int = 0
    met: str = ""
    declared: list[str] = field(default_factory=list)
    recorded_best: str = ""
    met_before: str = ""

    def __post_init__(self) -> None:
        # An item's URL is that of its page, and a fragment.
        self.met = self.met or self.own_url
        self.recorded_best = self.recorded_best or self.met

    @property
    def own_url(self) -> str:
        """The URL of the original's page."""
        return self.original.partition("#")[0]

    @property
    def may_have_better(self) -> bool:
        """Whether the content was met at several URLs, or a better one was recorded."""
        return bool(self.copies) or self.recorded_best != self.own_url

    @classmethod
    def recorded(
        cls, cluster: str, original: str, best: str, *, is_declared: bool, copies: int = 0
    ) -> Content:
        """Return a content that an earlier run recorded with its best URL."""
        content = cls(cluster, original, copies, recorded_best=best)
        if is_declared:
            content.declare(best)
        else:
            content.met_before = best
        return content

    def meet(self, url: str) -> None:
        """Note that this URL shows the content."""
        self.met = min(self.met, url.partition("#")[0], key=preference)

    def declare(self, url: str) -> None:
        """Note that a page with the content declares this URL."""
        if url not in self.declared:
            self.declared = sorted([*self.declared, url], key=preference)[:_MAX_DECLARED]


def cluster_of(url: str, *, by_item: bool = False) -> str:
    """Return the id of the content of which a page, or an item, is the original."""
    key = url if by_item else page_key(url)
    return blake2b(utf8(key), digest_size=10).hexdigest()


def credible(canonical: str | None, url: str) -> str | None:
    """Return the canonical URL that a page declares, unless the page alone shows it to be wrong."""
    if canonical is None or len(canonical) > _MAX_URL_CHARS:
        return None
    if not canonical.startswith(("http://", "https://")) or site_of(canonical) != site_of(url):
        return None
    # A front page may have any arguments.
    is_post = not is_list(url.partition("?")[0])
    return None if is_list(canonical) and is_post else canonical


class Contents:
    """The contents of one crawl, in bounded memory.

    :param by_item: whether items are judged, each by a field: their pages declare no URL of theirs.
    """

    def __init__(self, *, by_item: bool = False) -> None:
        self._by_item = by_item
        self._contents = LocalCache[str, Content](MAX_CONTENTS)
        #: The cluster that each URL, met or declared, belongs to.
        self._owners = LocalCache[bytes, str](_MAX_URLS)

    def meet(
        self,
        verdict: Verdict,
        url: str,
        declared: str | None = None,
        redirected: Iterable[str] = (),
    ) -> list[Content]:
        """Record a judged page or item; return the contents whose best URL may have changed.

        The first is its own. A page that could not be compared may be a copy all the same, so
        nothing is recorded of it.

        :param url: of the page.
        :param declared: the canonical URL that the page declares, if it is credible.
        :param redirected: the URLs that redirected to it.
        """
        content = self.of(verdict)
        if verdict.kind == "undecided":
            return [content]
        if verdict.reason == Reason.CHANGED:
            content = Content(
                content.cluster, content.original, recorded_best=content.recorded_best
            )
        # It is now the newest.
        self._contents.pop(content.cluster, None)
        self._contents[content.cluster] = content
        content.copies += verdict.is_duplicate
        content.meet(url)
        if self._by_item:
            return [content]
        affected = [self._claim(each, content) for each in (url, *redirected)]
        if declared is not None:
            affected.append(self._claim(declared, content))
            content.declare(declared)
            if page_key(declared) != page_key(url):
                self._owners[_digest(url)] = _NO_CONTENT
        return [content, *(other for other in affected if other is not None)]

    def refute(self, url: str) -> Content | None:
        """Note that a URL shows no content; return the one whose best URL may have changed."""
        key = _digest(url)
        owner, self._owners[key] = self._owners.get(key), _NO_CONTENT
        return None if owner is None else self._contents.get(owner)

    def of(self, verdict: Verdict) -> Content:
        """Return the content of a judged page or item; it need not have been met."""
        return self.of_original(verdict.duplicate_of or verdict.url)

    def of_original(self, url: str) -> Content:
        """Return the content with this original; it need not have been met."""
        cluster = cluster_of(url, by_item=self._by_item)
        return self._contents.get(cluster) or Content(cluster, url)

    def best(self, content: Content) -> tuple[str, bool]:
        """Return the best URL of a content, and whether its pages declare it."""
        valid = (url for url in content.declared if self._is_of(url, content))
        declared = next(valid, None)
        if declared is not None:
            return declared, True
        before = content.met_before
        if before and self._is_of(before, content):
            return min(content.met, before, key=preference), False
        return content.met, False

    def has_other_best(self, content: Content, url: str) -> bool:
        """Return whether the best URL of a content differs from one by more than its letters."""
        best, is_declared = self.best(content)
        if best == url:
            return False
        # Whoever was told that URL must learn that it is wrong.
        was_declared = url in content.declared and url != content.own_url
        return is_declared or was_declared or preference(best)[:-1] != preference(url)[:-1]

    def better_urls(self) -> dict[str, str]:
        """Return the best URLs of contents with copies, by originals that are not as good."""
        return {
            content.original: self.best(content)[0]
            for content in self._contents.values()
            if content.may_have_better and self.has_other_best(content, content.own_url)
        }

    def restore(self, content: Content) -> None:
        """Add a content that an earlier run recorded."""
        self._contents[content.cluster] = content
        # Whoever else shows or declares that URL contradicts it.
        if not self._by_item:
            self._owners[_digest(content.recorded_best)] = content.cluster

    def _claim(self, url: str, content: Content) -> Content | None:
        """Note that a URL belongs to a content; return the one that it belonged to before."""
        key = _digest(url)
        owner = self._owners.get(key)
        if owner is None:
            self._owners[key] = content.cluster
        elif owner not in (content.cluster, _NO_CONTENT):
            self._owners[key] = _NO_CONTENT
            return self._contents.get(owner)
        return None

    def _is_of(self, url: str, content: Content) -> bool:
        owner = self._owners.get(_digest(url))
        return owner is None or owner == content.cluster


def _digest(url: str) -> bytes:
    return blake2b(utf8(page_key(url)), digest_size=8).digest()
