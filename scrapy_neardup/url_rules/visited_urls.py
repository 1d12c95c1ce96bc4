"""The addresses of a site that were fetched, and which of them are one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from .skeletons import Form
from .url_parts import UrlParts

#: With so many addresses of one content a new one is compared.
_COMPARED = 4


class VisitedUrl:
    """An address that was fetched, or is being fetched.

    :ivar content: of its page; ``None`` until that was judged.
    :ivar seen: which observation it was.
    :ivar normal: what is left of it by the rules in force.
    :ivar tried: what is left of it while other rules are tried.
    """

    __slots__ = ("address", "content", "digest", "normal", "seen", "tried")

    def __init__(self, address: UrlParts, digest: int, normal: Form, tried: Form) -> None:
        self.address = address
        self.digest = digest
        self.normal = normal
        self.tried = tried
        self.content: int | None = None
        self.seen = 0


class VisitedUrls:
    """VisitedUrl addresses by their digests and by what is left of them.

    :param most: of more, those that were judged first are forgotten.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        #: Those that came first are forgotten first, for which a plain dict would take long.
        self._all: OrderedDict[int, VisitedUrl] = OrderedDict()
        self._by_normal: dict[int, list[VisitedUrl]] = {}
        self._by_tried: dict[int, list[VisitedUrl]] = {}
        self._by_content: dict[int, list[VisitedUrl]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[VisitedUrl]:
        return iter(self._all.values())

    def get(self, digest: int) -> VisitedUrl | None:
        return self._all.get(digest)

    def of_normal(self, digest: int) -> list[VisitedUrl]:
        """Those of one normal form."""
        return self._by_normal.get(digest, [])

    def judged(self, digest: int) -> Iterator[VisitedUrl]:
        """Those of which one form is left while rules are tried, with their contents."""
        return (known for known in self._by_tried.get(digest, ()) if known.content is not None)

    def add(self, known: VisitedUrl) -> None:
        self._all[known.digest] = known
        self._group(known)
        if len(self._all) > self._most:
            judged = (other for other in self._all.values() if other.content is not None)
            self.remove(next(judged, known))

    def remove(self, known: VisitedUrl) -> None:
        if self._all.pop(known.digest, None) is not None:
            self._ungroup(known)
            if known.content is not None:
                _take(self._by_content, known.content, known)

    def judge(self, known: VisitedUrl, content: int, seen: int) -> list[VisitedUrl]:
        """Note what an address led to; returns others that led to the same."""
        if known.content is not None:
            _take(self._by_content, known.content, known)
        known.content, known.seen = content, seen
        same = self._by_content.setdefault(content, [])
        others = same[:_COMPARED]
        same.append(known)
        return others

    def change(self, known: VisitedUrl, normal: Form, tried: Form) -> None:
        """Other components of it are left out from now on."""
        self._ungroup(known)
        known.normal, known.tried = normal, tried
        self._group(known)

    def _group(self, known: VisitedUrl) -> None:
        self._by_normal.setdefault(known.normal.digest, []).append(known)
        self._by_tried.setdefault(known.tried.digest, []).append(known)

    def _ungroup(self, known: VisitedUrl) -> None:
        for groups, digest in (
            (self._by_normal, known.normal.digest),
            (self._by_tried, known.tried.digest),
        ):
            _take(groups, digest, known)


def _take(groups: dict[int, list[VisitedUrl]], digest: int, known: VisitedUrl) -> None:
    group = groups[digest]
    group.remove(known)
    if not group:
        del groups[digest]
