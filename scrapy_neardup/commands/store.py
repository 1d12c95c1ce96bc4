"""``scrapy neardup store``: inspect and change a store."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.table import Table
from scrapy.settings import BaseSettings

from .._util.escaping import printable
from .._util.urls import page_key
from ..exceptions import InvalidOption, StoreError
from ..hashing.simhash import to_hex
from ..matching.stored_items import NO_ITEMS
from ..stores import Namespace, StoredPage, StoreReader
from .support import transfer
from .support.options import Commands, above_0, at_least_0
from .support.store_address import add_store, domain, looking_at, namespace_in, writing_to
from .support.terminal import iso, quantity, say, show, table


def add_command(commands: Commands) -> None:
    """Add the sub-command and its own sub-commands."""
    group = commands.add_group("store", "List, forget, export or import the pages of a store.")

    parser = group.add("info", "Show the namespaces of a store.", _info)
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object")

    summary = "Print a line per page: URL, time, fingerprint, number of distinct words."
    parser = group.add("list", summary, _list)
    add_store(parser)
    parser.add_argument("--site", type=domain, help="only pages of this registrable domain")
    parser.add_argument(
        "--limit", type=at_least_0, metavar="N", help="print the N oldest pages only"
    )
    parser.add_argument("--json", action="store_true", help="print JSON Lines")

    summary = "Forget pages: they and their copies are new when they are fetched again."
    parser = group.add("forget", summary, _forget)
    add_store(parser)
    parser.add_argument(
        "urls", metavar="URL", nargs="*", help="URL of a page, canonicalized before the lookup"
    )
    parser.add_argument("--site", type=domain, help="forget all pages of this registrable domain")

    transfer.add_commands(group)

    summary = "Forget expired pages and free disk space, in all namespaces or in one."
    parser = group.add("compact", summary, _compact)
    add_store(parser)
    parser.add_argument(
        "--ttl",
        type=above_0,
        metavar="SECONDS",
        help="forget pages stored before that many seconds",
    )


def _info(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        facts = {
            "store": reader.name,
            "format": reader.format,
            "bytes": reader.n_bytes,
            "namespaces": [_facts(reader, space) for space in _spaces(reader, options)],
        }
    if options.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        show(*_tables(facts))


def _spaces(reader: StoreReader, options: argparse.Namespace) -> list[Namespace]:
    """Return the namespace that the options name, or all."""
    if options.namespace is None:
        return reader.namespaces()
    return [namespace_in(reader, options.namespace)]


def _facts(reader: StoreReader, space: Namespace) -> dict[str, Any]:
    figures = reader.figures(space.name)
    return {
        "name": space.name,
        **asdict(figures),
        "oldest": iso(figures.oldest),
        "newest": iso(figures.newest),
        "recipe": space.recipe or None,
        "parts": dict(space.parts),
    }


def _tables(facts: dict[str, Any]) -> Iterator[str | Table]:
    taken = facts["bytes"]
    size = "" if taken is None else f", {taken:,} bytes"
    yield f"{facts['store']}: format {facts['format']}{size}"
    if not facts["namespaces"]:
        yield "There is no namespace in it yet."
    for space in facts["namespaces"]:
        rows = [
            (name.replace("_", " "), "-" if value is None else value)
            for name, value in space.items()
            if name not in ("name", "parts")
        ]
        yield table("namespace", space["name"], rows=[*rows, *space["parts"].items()])


def _list(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        pages = reader.pages(namespace_in(reader, options.namespace).name, options.site)
        for page in islice(pages, options.limit):
            facts = _page_facts(page)
            sys.stdout.write((json.dumps(facts) if options.json else _text_line(facts)) + "\n")


def _page_facts(page: StoredPage) -> dict[str, Any]:
    return {
        "url": page.signature.url,
        "stored_at": iso(page.stored_at),
        "fingerprint": to_hex(page.signature.fingerprint),
        "features": page.signature.n_features,
        "confirmed": page.is_confirmed,
        "has_items": page.items != NO_ITEMS,
    }


def _text_line(facts: dict[str, Any]) -> str:
    fields = [str(facts[name]) for name in ("url", "stored_at", "fingerprint", "features")]
    if not facts["confirmed"]:
        fields.append("unconfirmed")
    if not facts["has_items"]:
        fields.append("links only")
    return "\t".join(map(printable, fields))


def _forget(options: argparse.Namespace, settings: BaseSettings) -> None:
    if not options.urls and options.site is None:
        raise InvalidOption("URL", "missing", "an address or more, or --site with a site")
    with looking_at(options.store) as reader:
        namespace = namespace_in(reader, options.namespace).name
        of_site = [] if options.site is None else reader.pages(namespace, options.site)
        keys = [page.signature.key for page in of_site]
    with writing_to(options.store, namespace) as store:
        # Items that are judged by a field are stored under a URL that is not canonicalized.
        missing = [
            url for url in options.urls if not (store.forget(page_key(url)) or store.forget(url))
        ]
        forgotten = len(options.urls) - len(missing) + sum(map(store.forget, keys))
        left = len(store)
        name = store.name
    if not forgotten:
        asked = missing if options.site is None else [*missing, f"site {options.site}"]
        raise StoreError(name, f"nothing to forget in namespace {namespace} of {', '.join(asked)}")
    for url in missing:
        say(f"not there: {url}")
    say(f"{name}: {quantity(forgotten, 'page')} forgotten, {left} left in namespace {namespace}")


def _compact(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        before = reader.n_bytes
        names = [space.name for space in _spaces(reader, options)]
        counts = {name: reader.figures(name).pages for name in names}
    for name, count in counts.items():
        with writing_to(options.store, name, options.ttl) as store:
            store.compact()
            say(f"namespace {name}: {quantity(count, 'page')} before, {len(store)} after")
    with looking_at(options.store) as reader:
        after = reader.n_bytes
        if before is not None and after is not None:
            say(f"{reader.name}: {before:,} bytes before, {after:,} after")
