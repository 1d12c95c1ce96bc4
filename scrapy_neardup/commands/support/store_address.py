"""Opens the store of a sub-command, and finds the namespace in it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..._util.urls import site_of
from ...exceptions import InputError, InvalidOption, StoreError, StoreMissing
from ...stores import Store, StoreReader, open_reader, open_store
from .terminal import counted_pages, say


def add_store(parser: argparse.ArgumentParser, name: str = "store", **how: Any) -> None:
    """Add the arguments for a store and a namespace in it."""
    parser.add_argument(
        name, metavar="STORE", help="a store's address (sqlite:///path, redis://…) or file", **how
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="namespace of the store, usually the name of a spider (default: the store's only one)",
    )


def registrable_domain(text: str) -> str:
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
        raise InputError(given, f"no such file{hint}")
    return f"sqlite:///{path.resolve()}"


@contextmanager
def looking_at(given: str) -> Iterator[StoreReader]:
    """Open a store for reading.

    :raises StoreError: when it does not exist, or cannot be read.
    """
    with closing(_reader(given)) as reader:
        yield reader


def namespaces_at(given: str) -> list[str]:
    """Return the names of a store's namespaces; none if the store does not exist.

    :raises InputError: when it is given as a file that does not exist.
    """
    address_of(given, f"; to create a store, give an address such as sqlite:///{given}")
    try:
        with looking_at(given) as reader:
            return [space.name for space in reader.namespaces()]
    except StoreMissing:
        return []


def namespace_in(reader: StoreReader, wanted: str | None) -> str:
    """Return the namespace of this name, or the only one.

    :raises InvalidOption: when there is none of that name.
    :raises StoreError: when no name is given and there is not exactly one.
    """
    names = [space.name for space in reader.namespaces()]
    if wanted in names:
        return wanted
    if not names:
        raise StoreError(reader.name, "it has no namespace yet")
    if wanted is not None:
        raise InvalidOption("--namespace", wanted, f"one of {', '.join(map(repr, names))}")
    if len(names) > 1:
        raise StoreError(
            reader.name, f"select one of its namespaces with --namespace: {', '.join(names)}"
        )
    return names[0]


@contextmanager
def writing_to(
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
        say_forgotten(store)
        yield store


def require_writable(store: Store | None) -> None:
    """Raise the current write error of a store, because a command does not retry.

    :raises StoreError: when the store cannot be written at present.
    """
    if store is not None and store.problem:
        raise StoreError(store.name, f"cannot be written: {store.problem}")


def say_forgotten(store: Store) -> None:
    """Print how many unconfirmed pages the store forgot."""
    if store.forgotten:
        say(
            f"{store.name}: {counted_pages(store.forgotten)} left out: after an unclean stop, "
            "their items may not be on disk"
        )


def _reader(given: str) -> StoreReader:
    address = address_of(given)
    try:
        return open_reader(address)
    except InvalidOption as error:
        raise error.renamed("STORE") from None
