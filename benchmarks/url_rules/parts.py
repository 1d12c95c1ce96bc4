"""Builds the URLs of a site from parts, some of which do not change the content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal
from urllib.parse import quote, urlencode

#: How a copy looks: as the original, without what stands around it, with its items in another
#: order.
Look = Literal["same", "bare", "shuffled"]
#: What pages name as their canonical address: nothing, the plain one, the front page wherever.
Canonical = Literal["none", "right", "front"]


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart.

    :ivar segments: those of the path that say which page it is.
    :ivar label: what stands before the site's domain.
    :ivar before: segments in front of the others.
    :ivar after: segments behind the others; an empty one is a trailing slash.
    :ivar path_param: what follows the path's semicolon.
    """

    segments: tuple[str, ...]
    label: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    path_param: str = ""
    query: tuple[tuple[str, str], ...] = ()

    def url(self, domain: str) -> str:
        host = f"{self.label}.{domain}" if self.label else domain
        path = "/".join(map(quote, (*self.before, *self.segments, *self.after)))
        param = f";{self.path_param}" if self.path_param else ""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"http://{host}/{path}{param}{query}"

    def having(self, name: str, value: str) -> Address:
        """With one more parameter in the query."""
        return replace(self, query=(*self.query, (name, value)))


@dataclass(frozen=True)
class Noise:
    """A part that changes nothing, wherever a section allows it.

    :ivar name: of a parameter, a segment or a host label.
    :ivar add: puts it on an address, unless something of its kind stands there.
    :ivar often: how often it is drawn, beside the others of a section.
    :ivar is_param: whether it is a parameter of the query.
    """

    name: str
    add: Callable[[Address, Random], Address]
    look: Look = "same"
    often: int = 2
    is_param: bool = False


def param(name: str, values: Sequence[str] = (), look: Look = "same", often: int = 2) -> Noise:
    """A query parameter, of some values, or each time of a new one; at any place in the query."""

    def add(address: Address, random: Random) -> Address:
        if any(name == known for known, _ in address.query):
            return address
        query = [*address.query]
        value = random.choice(values) if values else f"{random.getrandbits(48):012x}"
        query.insert(random.randint(0, len(query)), (name, value))
        return replace(address, query=tuple(query))

    return Noise(name, add, look, often, is_param=True)


def path_param(name: str, often: int = 2) -> Noise:
    """A session behind the path's semicolon."""

    def add(address: Address, random: Random) -> Address:
        return replace(address, path_param=f"{name}={random.getrandbits(64):016X}")

    return Noise(f";{name}", add, often=often)


def session_segment(often: int = 2) -> Noise:
    """A session as the first segment."""

    def add(address: Address, random: Random) -> Address:
        if address.before:
            return address
        return replace(address, before=(f"s-{random.getrandbits(40):010x}",))

    return Noise("/s-…/", add, often=often)


def first_segment(name: str, look: Look = "bare") -> Noise:
    def add(address: Address, _: Random) -> Address:
        return address if address.before else replace(address, before=(name,))

    return Noise(f"/{name}/…", add, look)


def last_segment(name: str, look: Look = "bare", often: int = 2) -> Noise:
    """Behind the path; the empty one is a trailing slash."""

    def add(address: Address, _: Random) -> Address:
        return address if address.after else replace(address, after=(name,))

    return Noise(f"…/{name}", add, look, often)


def host(label: str, instead_of: str) -> Noise:
    """Another name of a host."""

    def add(address: Address, _: Random) -> Address:
        return replace(address, label=label) if address.label == instead_of else address

    return Noise(f"{label}.", add)


@dataclass(eq=False, repr=False)
class Section:
    """A part of the site where one set of parts means nothing.

    :ivar noises: of its items, :ivar list_noises: of its lists.
    :ivar always: a noise that every address of its items has.
    """

    name: str
    noises: list[Noise]
    list_noises: list[Noise] = field(default_factory=list)
    always: Noise | None = None
    canonical: Canonical = "none"


@dataclass(eq=False, repr=False)
class Content:
    """A page that is like no other, however many URLs lead to it.

    :ivar id: says what it is.
    :ivar number: among all contents, from 0; its text hangs on it.
    :ivar aliases: other addresses that mean the same by themselves (page 1 of a list).
    :ivar shown: of a list, the contents that it shows something of.
    :ivar targets: contents that its pages link to.
    :ivar alternates: by language, the contents that are its translations, itself among them.
    :ivar urls: all that lead to it; the canonical one first, if it is one of them.
    """

    id: str
    number: int
    section: Section
    address: Address
    language: str
    aliases: list[Address] = field(default_factory=list)
    shown: list[Content] = field(default_factory=list)
    targets: list[Content] = field(default_factory=list)
    alternates: dict[str, Content] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)

    @property
    def noises(self) -> list[Noise]:
        return self.section.list_noises if self.shown else self.section.noises
