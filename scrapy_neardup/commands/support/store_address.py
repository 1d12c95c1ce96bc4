"""Opens the store of a sub-command, and finds the namespace in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

from ..._util.urls import site_of
from ..._util.wording import quantity
from ...exceptions import InputError, InvalidOption, StoreError, StoreMissing
from ...sources.readers import beginning
from ...stores import MemoryStore, Namespace, Store, StoreReader, open_reader, open_store
from ...stores.factory import SQLITE_MAGIC, SQLITE_SCHEME
from ...stores.in_process import InProcessStore
from .output import print_message


def add_store(parser: argparse.ArgumentParser, name: str = "store") -> None:
    """Add the arguments for a store and a namespace in it."""
    parser.add_argument(
        name, metavar="STORE", help="a store's address (sqlite:///path, redis://…) or file"
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="namespace of the store, usually the name of a spider (default: the store's only one)",
    )


def parse_domain(text: str) -> str:
    """Parse an option that is a registrable domain."""
    site = site_of(f"https://{text}/")
    if text and site != text:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a registrable domain" + (f"; that is {site!r}" if site else "")
        )
    return text


def address_of(given: str, hint: str = "") -> str:
    """Return the address of a store that is given as an address or a file.

    :param hint: added to the error when there is no such file.
    :raises InputError: when there is no such file.
    :raises InvalidOption: when it is ``"memory"``, which has no stored pages.
    """
    if "://" in given:
        return given
    if given == "memory":
        raise InvalidOption("STORE", given, "a store that outlives its process: 'sqlite:///path'")
    path = Path(given)
    if path.is_dir():
        raise InputError(given, "is a folder; give the store's file in it")
    if not path.is_file():
        raise InputError(given, f"no such file{hint or _ways_out(path)}")
    return f"sqlite:///{path.resolve()}"


def paths_of(store: str) -> list[str]:
    """Return the spellings by which a store's file must not be overwritten."""
    return [store, store.removeprefix(SQLITE_SCHEME)]


def _ways_out(path: Path) -> str:
    """Return what to do about a missing store: a similar name, or how to make it."""
    with suppress(OSError, InputError):
        names = [other.name for other in path.parent.iterdir()]
        for near in get_close_matches(path.name, names):
            if beginning(str(path.with_name(near))).startswith(SQLITE_MAGIC):
                return f"; did you mean {path.with_name(near)}?"
    address = f"sqlite:///{path}"
    return (
        f'; a crawl with NEARDUP_STORE = "{address}" makes it, and so does scrapy neardup store '
        f"import {address} PAGES --namespace SPIDER"
    )


@contextmanager
def open_for_reading(given: str) -> Iterator[StoreReader]:
    """Open a store for reading.

    :raises StoreError: when it does not exist, or cannot be read.
    """
    address = address_of(given)
    try:
        opened = open_reader(address)
    except InvalidOption as error:
        raise error.renamed("STORE") from None
    except StoreMissing as error:
        if not address.startswith(SQLITE_SCHEME):
            raise
        ways_out = _ways_out(Path(address.removeprefix(SQLITE_SCHEME)))
        raise StoreMissing(error.store, f"{error.problem}{ways_out}") from None
    with closing(opened) as reader:
        yield reader


def namespace_in(reader: StoreReader, wanted: str | None) -> Namespace:
    """Return the namespace of this name, or the only one.

    :raises InvalidOption: when there is none of that name.
    :raises StoreError: when no name is given and there is not exactly one.
    """
    spaces = {space.name: space for space in reader.namespaces()}
    if not spaces:
        raise StoreError(
            reader.name, "it has no namespace yet: a crawl with this NEARDUP_STORE makes one"
        )
    if wanted is None and len(spaces) > 1:
        raise StoreError(
            reader.name, f"select one of its namespaces with --namespace: {', '.join(spaces)}"
        )
    name = next(iter(spaces)) if wanted is None else wanted
    if name not in spaces:
        raise InvalidOption("--namespace", name, f"one of {', '.join(map(repr, spaces))}")
    return spaces[name]


def require_site(reader: StoreReader, space: Namespace, site: str) -> None:
    """Check that a namespace has pages of a site, unless it has none at all. Reads all pages.

    :raises InvalidOption: when it has pages of other sites only.
    """
    sites = sorted({page.signature.site for page in reader.pages(space.name)})
    if sites and site not in sites:
        near = get_close_matches(site, sites, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f", such as {sites[0]!r}"
        raise InvalidOption("--site", site, f"a site with stored pages{hint}")


@contextmanager
def open_copy(given: str, namespace: str | None) -> Iterator[InProcessStore]:
    """Open a store so that changes stay in memory; the pages of a remote store are all read."""
    with open_for_reading(given) as reader:
        space = namespace_in(reader, namespace)
        store = _copied(reader, space) if reader.is_remote else reader.overlay(space.name)
        assert isinstance(store, InProcessStore)
        with closing(store):
            print_forgotten(store)
            yield store


def _copied(reader: StoreReader, space: Namespace) -> MemoryStore:
    store = MemoryStore(space.secret)
    store.name = reader.name
    if space.recipe:
        store.adopt(space.recipe, space.parts)
    for page in reader.pages(space.name):
        if page.is_confirmed:
            store.add(page.signature, page.stored_at, items=page.items)
    store.note_better_urls(reader.better_urls(space.name))
    return store


@contextmanager
def open_for_writing(
    given: str, namespace: str, ttl: float | None = None, secret: bytes | None = None
) -> Iterator[Store]:
    """Open a store for writing, and print how many pages it forgot when it was opened.

    :raises StoreError: when it cannot be used, or not all could be written.
    """
    try:
        opened = open_store(address_of(given), namespace, ttl, secret=secret)
    except InvalidOption as error:
        raise error.renamed("STORE" if error.option == "store" else error.option) from None
    with closing(opened) as store:
        print_forgotten(store)
        yield store


def open_bodies(store: Store) -> None:
    """Open the bodies of pages that were read quickly, so that they are removed with the pages."""
    if isinstance(store, InProcessStore) and store.extraction == "lazy":
        # None is evicted, whatever their bound is in a crawl.
        store.body_cache(sys.maxsize)


def require_writable(store: Store) -> None:
    """Raise a StoreError if the store cannot be written at present: a command does not retry."""
    if store.problem:
        raise StoreError(store.name, f"cannot be written: {store.problem}")


def print_forgotten(store: Store) -> None:
    """Print how many unconfirmed pages the store forgot."""
    if store.forgotten:
        print_message(
            f"{store.name}: {quantity(store.forgotten, 'page')} left out: after an unclean stop, "
            "their items may not be on disk"
        )
