"""``scrapy neardup store``: inspect and change a store."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.table import Table

from .._util.escaping import printable
from .._util.urls import page_key
from ..exceptions import InvalidOption, StoreError
from ..hashing.simhash import to_hex
from ..matching.stored_items import NO_ITEMS
from ..stores import Namespace, StoredPage, StoreReader
from .support import transfer
from .support.options import AddGlobalOptions, Commands, above_0, at_least_0, new_command
from .support.store_address import (
    add_store,
    looking_at,
    namespace_in,
    registrable_domain,
    writing_to,
)
from .support.terminal import counted_pages, iso, say, show, table

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Add the sub-command and its own sub-commands."""
    summary = "List, forget, export or import the pages of a store."
    group = commands.add_parser("store", help=summary, description=summary)
    inner = group.add_subparsers(metavar="COMMAND", dest="store_command", required=True)
    _add_info(inner, add_global_options)
    _add_list(inner, add_global_options)
    _add_forget(inner, add_global_options)
    transfer.add_commands(inner, add_global_options)
    _add_compact(inner, add_global_options)


def _add_info(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    parser = new_command(
        commands, "info", "Show the namespaces of a store.", _info, add_global_options
    )
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def _add_list(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    parser = new_command(
        commands,
        "list",
        "Print a line per page: URL, time, fingerprint, number of distinct words.",
        _list,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "--site", type=registrable_domain, help="only pages of this registrable domain"
    )
    parser.add_argument(
        "--limit", type=at_least_0, metavar="N", help="print the N oldest pages only"
    )
    parser.add_argument("--json", action="store_true", help="print JSON Lines")


def _add_forget(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    parser = new_command(
        commands,
        "forget",
        "Forget pages: they and their copies are new when they are fetched again.",
        _forget,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "urls", metavar="URL", nargs="*", help="URL of a page, canonicalized before the lookup"
    )
    parser.add_argument(
        "--site", type=registrable_domain, help="forget all pages of this registrable domain"
    )


def _add_compact(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    parser = new_command(
        commands,
        "compact",
        "Forget expired pages and free disk space, in all namespaces or in one.",
        _compact,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "--ttl",
        type=above_0,
        metavar="SECONDS",
        help="forget pages stored before that many seconds",
    )


def _info(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        spaces = reader.namespaces()
        if options.namespace is not None:
            wanted = namespace_in(reader, options.namespace)
            spaces = [space for space in spaces if space.name == wanted]
        facts = {
            "store": reader.name,
            "format": reader.format,
            "bytes": reader.n_bytes,
            "namespaces": [_facts(reader, space) for space in spaces],
        }
    if options.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        show(*_tables(facts))


def _facts(reader: StoreReader, space: Namespace) -> dict[str, Any]:
    figures = reader.figures(space.name)
    return {
        "name": space.name,
        "pages": figures.pages,
        "unconfirmed": figures.unconfirmed,
        "oldest": iso(figures.oldest),
        "newest": iso(figures.newest),
        "rules": figures.rules,
        "known_duplicates": figures.known_duplicates,
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
            (name.replace("_", " "), "-" if space[name] is None else space[name])
            for name in (
                "pages",
                "unconfirmed",
                "oldest",
                "newest",
                "rules",
                "known_duplicates",
                "recipe",
            )
        ]
        yield table("namespace", space["name"], rows=[*rows, *space["parts"].items()])


def _list(options: argparse.Namespace, settings: BaseSettings) -> None:
    line = _json_line if options.json else _text_line
    with looking_at(options.store) as reader:
        pages = reader.pages(namespace_in(reader, options.namespace), options.site)
        for page in islice(pages, options.limit):
            sys.stdout.write(line(page) + "\n")


def _text_line(page: StoredPage) -> str:
    signature = page.signature
    fields = [
        signature.url,
        iso(page.stored_at),
        to_hex(signature.fingerprint),
        str(signature.n_features),
    ]
    if not page.is_confirmed:
        fields.append("unconfirmed")
    if page.items == NO_ITEMS:
        fields.append("links only")
    return "\t".join(printable(field or "") for field in fields)


def _json_line(page: StoredPage) -> str:
    signature = page.signature
    return json.dumps(
        {
            "url": signature.url,
            "stored_at": iso(page.stored_at),
            "fingerprint": to_hex(signature.fingerprint),
            "features": signature.n_features,
            "confirmed": page.is_confirmed,
            "has_items": page.items != NO_ITEMS,
        }
    )


def _forget(options: argparse.Namespace, settings: BaseSettings) -> None:
    if not options.urls and options.site is None:
        raise InvalidOption("URL", "missing", "an address or more, or --site with a site")
    with looking_at(options.store) as reader:
        namespace = namespace_in(reader, options.namespace)
        keys = [] if options.site is None else _keys_of(reader, namespace, options.site)
    with writing_to(options.store, namespace) as store:
        # Items that are judged by a field are stored under a URL that is not canonicalized.
        missing = [
            url for url in options.urls if not (store.forget(page_key(url)) or store.forget(url))
        ]
        forgotten = len(options.urls) - len(missing) + sum(map(store.forget, keys))
        left = len(store)
        name = store.name
    if not forgotten:
        asked = [*missing, *([f"site {options.site}"] if options.site is not None else [])]
        raise StoreError(name, f"nothing to forget in namespace {namespace} of {', '.join(asked)}")
    for url in missing:
        say(f"not there: {url}")
    say(f"{name}: {counted_pages(forgotten)} forgotten, {left} left in namespace {namespace}")


def _keys_of(reader: StoreReader, namespace: str, site: str) -> list[str]:
    return [page.signature.key for page in reader.pages(namespace, site)]


def _compact(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        before = reader.n_bytes
        names = [space.name for space in reader.namespaces()]
        if options.namespace is not None:
            names = [namespace_in(reader, options.namespace)]
        counts = {name: reader.figures(name).pages for name in names}
    for name in names:
        with writing_to(options.store, name, options.ttl) as store:
            store.compact()
            say(f"namespace {name}: {counted_pages(counts[name])} before, {len(store)} after")
    with looking_at(options.store) as reader:
        after = reader.n_bytes
        if before is not None and after is not None:
            say(f"{reader.name}: {before:,} bytes before, {after:,} after")
