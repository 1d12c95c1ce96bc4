"""``scrapy neardup store``: inspect and change a store."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.table import Table
from scrapy.settings import BaseSettings

from .._util.escaping import printable
from .._util.urls import page_key
from .._util.wording import quantity
from ..exceptions import InputError, StoreError, StoreMissing, UnfitOption
from ..hashing.simhash import to_hex
from ..matching.stored_items import NO_ITEMS
from ..sources.readers import PageReader, beginning
from ..stores import Entry, Namespace, Store, StoredPage, StoreReader
from ..stores.exports import ExportReader, Head, end_line, is_export, page_line
from .support.options import (
    Commands,
    Judge,
    above_0,
    add_columns,
    add_judge,
    at_least_0,
)
from .support.output import (
    format_time,
    open_output,
    print_message,
    print_output,
    report_skipped,
    table,
)
from .support.progress import busy, with_progress
from .support.store_address import (
    add_store,
    address_of,
    namespace_in,
    open_bodies,
    open_for_reading,
    open_for_writing,
    parse_domain,
    paths_of,
    require_writable,
)
from .support.verdicts import VerdictCounter, is_of_scan

#: Notes that ``list`` appends to a page, by the field that is false.
_NOTES = {"confirmed": "unconfirmed", "has_items": "links only", "read_in_full": "read quickly"}


def add_command(commands: Commands) -> None:
    """Add the sub-command and its own sub-commands."""
    group = commands.add_group("store", "List, forget, export or import the pages of a store.")

    parser = group.add("info", "Show the namespaces of a store.", _info)
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object")

    summary = "Print a line per page: URL, time, fingerprint, number of distinct words."
    parser = group.add("list", summary, _list)
    add_store(parser)
    parser.add_argument("--site", type=parse_domain, help="only pages of this registrable domain")
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
    parser.add_argument(
        "--site", type=parse_domain, help="forget all pages of this registrable domain"
    )

    _add_transfers(group)

    summary = "Forget expired pages and free disk space, in all namespaces or in one."
    parser = group.add("compact", summary, _compact)
    add_store(parser)
    parser.add_argument(
        "--ttl",
        type=above_0,
        metavar="SECONDS",
        help="forget pages stored more than so many seconds ago",
    )


def _add_transfers(group: Commands) -> None:
    """Add the sub-commands that move pages between stores."""
    summary = "Export the pages of a namespace as JSON Lines, for another machine or version."
    parser = group.add("export", summary, _export)
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT.jsonl",
        help="file to write (compressed if it ends in .gz or .zst), or - for stdout",
    )
    parser.add_argument(
        "--with-secret",
        action="store_true",
        help="include the key of the sketches, without which no other store can compare the pages",
    )

    summary = "Add the pages of an export, or of an earlier crawl, to a store."
    parser = group.add("import", summary, _import)
    add_store(parser)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="exports, or pages as for scan: a feed, WARC files, folders of HTML files, -",
    )
    add_columns(parser)
    add_judge(parser)


def _info(options: argparse.Namespace, settings: BaseSettings) -> None:
    with open_for_reading(options.store) as reader:
        facts = {
            "store": reader.name,
            "format": reader.format,
            "bytes": reader.n_bytes,
            "namespaces": [_facts(reader, space) for space in _spaces(reader, options)],
        }
    if options.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        print_output(*_tables(facts))


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
        "oldest": format_time(figures.oldest),
        "newest": format_time(figures.newest),
        "recipe": space.recipe or None,
        "parts": dict(space.parts),
    }


def _tables(facts: dict[str, Any]) -> Iterator[str | Table]:
    taken = facts["bytes"]
    size = "" if taken is None else f", {taken:,} bytes"
    yield f"{facts['store']}: format {facts['format']}{size}"
    if not facts["namespaces"]:
        yield "The store has no namespace yet."
    for space in facts["namespaces"]:
        rows = [
            (name.replace("_", " "), "-" if value is None else value)
            for name, value in space.items()
            if name not in ("name", "parts")
        ]
        yield table("namespace", space["name"], rows=[*rows, *space["parts"].items()])


def _list(options: argparse.Namespace, settings: BaseSettings) -> None:
    with open_for_reading(options.store) as reader:
        pages = reader.pages(namespace_in(reader, options.namespace).name, options.site)
        for page in islice(pages, options.limit):
            facts = _page_facts(page)
            sys.stdout.write((json.dumps(facts) if options.json else _text_line(facts)) + "\n")


def _page_facts(page: StoredPage) -> dict[str, Any]:
    return {
        "url": page.signature.url,
        "stored_at": format_time(page.stored_at),
        "fingerprint": to_hex(page.signature.fingerprint),
        "features": page.signature.n_features,
        "confirmed": page.is_confirmed,
        "has_items": page.items != NO_ITEMS,
        "read_in_full": page.signature.is_read,
    }


def _text_line(facts: dict[str, Any]) -> str:
    fields = [str(facts[name]) for name in ("url", "stored_at", "fingerprint", "features")]
    fields += [note for name, note in _NOTES.items() if not facts[name]]
    return "\t".join(map(printable, fields))


def _forget(options: argparse.Namespace, settings: BaseSettings) -> None:
    if not options.urls and options.site is None:
        raise UnfitOption("URL", "missing", "one or more URLs, or --site SITE")
    with open_for_reading(options.store) as reader:
        namespace = namespace_in(reader, options.namespace).name
        listed = () if options.site is None else reader.pages(namespace, options.site)
        keys = [page.signature.key for page in with_progress(listed, None, "search")]
    with open_for_writing(options.store, namespace) as store:
        open_bodies(store)
        # Items that are judged by a field are stored under a URL that is not canonicalized.
        missing = [
            url for url in options.urls if not (store.forget(page_key(url)) or store.forget(url))
        ]
        forgotten = (
            len(options.urls)
            - len(missing)
            + sum(map(store.forget, with_progress(keys, None, "forget", total=len(keys))))
        )
        left = len(store)
        name = store.name
    if not forgotten:
        asked = missing if options.site is None else [*missing, f"site {options.site}"]
        raise StoreError(name, f"nothing to forget in namespace {namespace} of {', '.join(asked)}")
    for url in missing:
        print_message(f"not in the store: {url}")
    print_message(
        f"{name}: {quantity(forgotten, 'page')} forgotten, {left} left in namespace {namespace}"
    )


def _compact(options: argparse.Namespace, settings: BaseSettings) -> None:
    with open_for_reading(options.store) as reader:
        before = reader.n_bytes
        names = [space.name for space in _spaces(reader, options)]
        counts = {name: reader.figures(name).pages for name in names}
    for name, count in counts.items():
        with open_for_writing(options.store, name, options.ttl) as store:
            open_bodies(store)
            with busy(f"compact {name}"):
                store.compact()
            print_message(f"namespace {name}: {quantity(count, 'page')} before, {len(store)} after")
    with open_for_reading(options.store) as reader:
        after = reader.n_bytes
        if before is not None and after is not None:
            print_message(f"{reader.name}: {before:,} bytes before, {after:,} after")


def _export(options: argparse.Namespace, settings: BaseSettings) -> None:
    left_out = written = unread = 0
    with open_for_reading(options.store) as reader:
        space = namespace_in(reader, options.namespace)
        secret = space.secret if options.with_secret else None
        inputs = paths_of(options.store)
        with open_output(options.output, inputs, private=options.with_secret, heading=1) as output:
            output.write(Head(space.name, space.recipe, space.parts, secret).line() + "\n")
            pages, total = reader.pages(space.name), reader.figures(space.name).pages
            for page in with_progress(pages, None, "export", total=total):
                if page.is_confirmed:
                    output.write(page_line(page) + "\n")
                    written += 1
                    unread += not page.signature.is_read
                else:
                    left_out += 1
            rules = reader.rules(space.name)
            output.write(end_line(written, rules) + "\n")
    what = _pages_and_rules(written, len(rules))
    print_message(f"{options.output}: {what} of namespace {space.name}")
    if unread:
        print_message(
            f"warning: {quantity(unread, 'page')} read quickly only, and bodies are not exported: "
            "after an import, nothing is compared with them until they are crawled again"
        )
    if left_out:
        print_message(f"{quantity(left_out, 'page')} left out: not known to be on disk yet")
    if options.with_secret:
        print_message(
            f"warning: {options.output} contains the store's secret, with which anyone can forge "
            "copies; keep it private"
        )


def _import(options: argparse.Namespace, settings: BaseSettings) -> None:
    starts = {source: beginning(source) for source in options.files}
    for source, start in starts.items():
        if is_of_scan(start):
            raise InputError(
                source,
                "is the output of scan, which has fingerprints only; import the scanned pages "
                "themselves, or scan them with --store and --add",
            )
    for source, start in starts.items():
        if is_export(start):
            _import_export(source, options)
    if pages := [source for source, start in starts.items() if not is_export(start)]:
        _import_pages(pages, options, settings)


def _is_newer(page: StoredPage, known: Entry) -> bool:
    """Return whether a page of an export replaces the stored page with its URL."""
    if (page.items == NO_ITEMS) != (known.items == NO_ITEMS):
        return known.items == NO_ITEMS
    return page.stored_at > known.stored_at


def _import_export(source: str, options: argparse.Namespace) -> None:
    export = ExportReader(source)
    name = _namespace_for(options, export.head.namespace)
    _require_comparable(export.head, source, options.store, name)
    older = read = rules = 0
    with open_for_writing(options.store, name, secret=export.head.secret) as store:
        if export.head.recipe:
            store.adopt(export.head.recipe, export.head.parts)
        try:
            for page in with_progress(export, export.lines, "import"):
                read += 1
                known = store.find(page.signature.key)
                if known is not None and not _is_newer(page, known):
                    older += 1
                else:
                    store.add(page.signature, page.stored_at, items=page.items)
                    require_writable(store)
            # A rule that the store has is kept: it was learned later, or switched off.
            known_rules = store.rules()
            store.put_rules({n: body for n, body in export.rules.items() if n not in known_rules})
            rules = len(export.rules)
        finally:
            # After an error, too, because the pages read so far are stored.
            note = f", {older} were there already" if older else ""
            what = _pages_and_rules(read, rules)
            print_message(f"{source}: {what} read{note}; {_size_line(store, name)}")


def _pages_and_rules(pages: int, rules: int) -> str:
    return quantity(pages, "page") + (f" and {quantity(rules, 'rule')}" if rules else "")


def _import_pages(
    sources: Sequence[str], options: argparse.Namespace, settings: BaseSettings
) -> None:
    pages = PageReader(sources, options.columns)
    name = _namespace_for(options)
    with open_for_writing(options.store, name) as store:
        tally = VerdictCounter(Judge.from_options(options, settings, store, extraction=None))
        try:
            for _ in tally.judge(pages, "import"):
                pass
        finally:
            if tally.pages:
                # After an error, too, because the pages read so far are stored.
                tally.report()
                print_message(_size_line(store, name))
    report_skipped(pages)


def _namespace_for(options: argparse.Namespace, of_export: str | None = None) -> str:
    """Return the namespace to import into: as given, the store's only one, or the export's."""
    address_of(options.store, f"; to create a store, give an address: sqlite:///{options.store}")
    if options.namespace is not None:
        return str(options.namespace)
    with suppress(StoreMissing), open_for_reading(options.store) as reader:
        if reader.namespaces():
            return namespace_in(reader, None).name
    if of_export is None:
        wanted = "give the name of the spider that will use it with --namespace"
        raise InputError("STORE", f"it has no namespace yet; {wanted}")
    return of_export


def _require_comparable(head: Head, source: str, given: str, namespace: str) -> None:
    """Check that the sketches of an export and of a namespace were made with the same secret.

    A recipe depends on the secret, so an export without a secret is from this namespace if the
    recipes are equal.
    """
    known, has_pages = None, False
    with suppress(StoreMissing), open_for_reading(given) as reader:
        if namespace in [space.name for space in reader.namespaces()]:
            known = namespace_in(reader, namespace)
            has_pages = next(reader.pages(namespace), None) is not None
    if head.secret is None and (known is None or known.recipe != head.recipe):
        raise InputError(
            source,
            "has no secret, so its pages can only be imported into their original namespace, which "
            f"{namespace} is not. Export them again with --with-secret, or import the pages "
            "themselves",
        )
    if head.secret and known and has_pages and known.secret != head.secret:
        raise InputError(
            source,
            f"was made with another secret than the pages in namespace {namespace}, so they cannot "
            "be compared. Give a new namespace with --namespace, or import the pages themselves",
        )


def _size_line(store: Store, namespace: str) -> str:
    return f"namespace {namespace} of {store.name} has {quantity(len(store), 'page')}"
