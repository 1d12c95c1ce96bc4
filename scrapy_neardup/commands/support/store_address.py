"""The store that a sub-command is about: its address, and the namespace in it."""

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
    """The store, and a namespace in it."""
    parser.add_argument(
        name, metavar="STORE", help="a store's address (sqlite:///path, redis://…) or file", **how
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        help="of the store: the name of the spider whose pages it keeps (may be left out where "
        "there is one alone)",
    )


def registrable_domain(text: str) -> str:
    """Type of an option that names a site."""
    site = site_of(f"https://{text}/")
    if text and site != text:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no site's registrable domain" + (f"; that is {site!r}" if site else "")
        )
    return text


def address_of(given: str, hint: str = "") -> str:
    """The address of a store that may be given as a file as well.

    :param hint: what to say more when there is no such file.
    :raises InputError: when there is no such file.
    :raises InvalidOption: when it is the address of nothing that could be found again.
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
    """A look at a store.

    :raises StoreError: when it is not there, or cannot be read.
    """
    with closing(_reader(given)) as reader:
        yield reader


def namespaces_at(given: str) -> list[str]:
    """Names of a store's namespaces; none where there is no store yet.

    :raises InputError: when it is given as a file that is not there.
    """
    address_of(given, f"; a new store is made at an address, sqlite:///{given}")
    try:
        with looking_at(given) as reader:
            return [space.name for space in reader.namespaces()]
    except StoreMissing:
        return []


def namespace_in(reader: StoreReader, wanted: str | None) -> str:
    """The namespace that is asked for, or the only one.

    :raises InvalidOption: when there is none of that name.
    :raises StoreError: when none is asked for and there is not exactly one.
    """
    names = [space.name for space in reader.namespaces()]
    if wanted in names:
        return wanted
    if not names:
        raise StoreError(reader.name, "there is no namespace in it yet")
    if wanted is not None:
        raise InvalidOption("--namespace", wanted, f"one of {', '.join(map(repr, names))}")
    if len(names) > 1:
        raise StoreError(
            reader.name, f"name one of its namespaces with --namespace: {', '.join(names)}"
        )
    return names[0]


@contextmanager
def writing_to(
    given: str, namespace: str, ttl: float | None = None, secret: bytes | None = None
) -> Iterator[Store]:
    """A store to change, which is closed at the end; says what it forgot on being opened.

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
    """A tool has nobody who would wait until the disk takes something again.

    :raises StoreError: when the store cannot be written at present.
    """
    if store is not None and store.problem:
        raise StoreError(store.name, f"cannot be written: {store.problem}")


def say_forgotten(store: Store) -> None:
    """Say how many pages were not confirmed, and so count as not stored."""
    if store.forgotten:
        say(
            f"{store.name}: {counted_pages(store.forgotten)} left out that nobody knows to be on "
            "disk since an unclean stop"
        )


def _reader(given: str) -> StoreReader:
    address = address_of(given)
    try:
        return open_reader(address)
    except InvalidOption as error:
        raise error.renamed("STORE") from None
