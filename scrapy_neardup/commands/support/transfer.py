"""``scrapy neardup store export`` and ``import``: pages from one store, or crawl, to another."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...exceptions import InputError
from ...matching.stored_items import NO_ITEMS
from ...sources.readers import PageReader, beginning
from ...stores import Entry, Namespace, Store, StoredPage
from ...stores.exports import ExportReader, Head, end_line, is_export, page_line
from ...workers import sign_record
from .options import AddGlobalOptions, Commands, Judge, add_rule, add_workers, new_command
from .output_files import lines_to
from .store_address import (
    add_store,
    looking_at,
    namespace_in,
    namespaces_at,
    require_writable,
    writing_to,
)
from .tally import Tally
from .terminal import counted_pages, report_skipped, say, with_progress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: By which a line of a scan's output is told from a page.
_OF_SCAN = {"verdict", "fingerprint"}
_CONTENT = {"html", "html_b64", "text"}


def add_commands(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Describe the two sub-commands."""
    parser = new_command(
        commands,
        "export",
        "Write the pages of a namespace as JSON Lines for another machine or version.",
        _export,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT.jsonl",
        help="file to write (.gz and .zst are packed), or - for stdout",
    )
    parser.add_argument(
        "--with-secret",
        action="store_true",
        help="and the key of the sketches, without which no other store can compare them",
    )
    parser = new_command(
        commands,
        "import",
        "Remember the pages of an export, or of an earlier crawl.",
        _import,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="exports, or pages as for scan: a feed, WARC files, folders of HTML files, -",
    )
    add_rule(parser)
    add_workers(parser)


def _export(options: argparse.Namespace, settings: BaseSettings) -> None:
    left_out = written = 0
    with looking_at(options.store) as reader:
        name = namespace_in(reader, options.namespace)
        [space] = [space for space in reader.namespaces() if space.name == name]
        secret = space.secret if options.with_secret else None
        inputs = [options.store, reader.name.removeprefix("sqlite:///")]
        with lines_to(options.output, inputs, private=options.with_secret) as output:
            output.write(Head(name, space.recipe, space.parts, secret).line() + "\n")
            for page in reader.pages(name):
                if page.is_confirmed:
                    output.write(page_line(page) + "\n")
                    written += 1
                else:
                    left_out += 1
            rules = reader.rules(name)
            output.write(end_line(written, rules) + "\n")
    say(f"{options.output}: {counted_pages(written)}{_and_rules(len(rules))} of namespace {name}")
    if left_out:
        say(f"{counted_pages(left_out)} left out that nobody knows to be on disk yet")
    if options.with_secret:
        say(
            f"warning: {options.output} holds the store's secret, with which pages can be made "
            "that pass for copies; show it to nobody who writes pages"
        )


def _import(options: argparse.Namespace, settings: BaseSettings) -> None:
    exports, pages = _sorted_out(options.files)
    for source in exports:
        _import_export(source, options)
    if pages:
        _import_pages(pages, options, settings)


def _sorted_out(sources: Sequence[str]) -> tuple[list[str], list[str]]:
    """Exports, and sources of pages.

    :raises InputError: when one is neither.
    """
    exports: list[str] = []
    pages: list[str] = []
    for source in sources:
        start = beginning(source)
        if _is_of_scan(start):
            raise InputError(
                source,
                "is the output of scan, whose fingerprints alone prove no copy; import the pages "
                "that were scanned, or scan them with --store and --add",
            )
        (exports if is_export(start) else pages).append(source)
    return exports, pages


def _is_of_scan(start: bytes) -> bool:
    try:
        fields = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.keys() >= _OF_SCAN and not _CONTENT & fields.keys()


def _is_newer(page: StoredPage, known: Entry) -> bool:
    """Does a page of an export replace what the store has at its address?"""
    if (page.items == NO_ITEMS) != (known.items == NO_ITEMS):
        return known.items == NO_ITEMS
    return page.stored_at > known.stored_at


def _import_export(source: str, options: argparse.Namespace) -> None:
    export = ExportReader(source)
    name = _namespace_for(options, export.head.namespace)
    _require_comparable(export.head, source, options.store, name)
    older = read = rules = 0
    with writing_to(options.store, name, secret=export.head.secret) as store:
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
            rules = _add_rules(store, export.rules)
        finally:
            # Whatever ended it: what was read until then is remembered.
            what = f"{counted_pages(read)}{_and_rules(rules)} read"
            note = f", {older} were there already" if older else ""
            say(f"{source}: {what}{note}; {_holds(store, name)}")


def _add_rules(store: Store, rules: Mapping[str, bytes]) -> int:
    """Add rules that are not there; how many were there to add?

    One that is there was learned later, or switched off.
    """
    known = store.rules()
    store.put_rules({name: body for name, body in rules.items() if name not in known})
    return len(rules)


def _and_rules(number: int) -> str:
    """So many rules besides, in words; nothing for none."""
    return f" and {number} rule{'' if number == 1 else 's'}" if number else ""


def _import_pages(
    sources: Sequence[str], options: argparse.Namespace, settings: BaseSettings
) -> None:
    pages = PageReader(sources)
    name = _namespace_for(options)
    with writing_to(options.store, name) as store:
        judge = Judge.from_options(options, settings, store)
        tally = Tally(judge.detector)
        try:
            with judge.pool(sign_record, options) as workers:
                for record, outcome in with_progress(workers.map(pages), pages, "import"):
                    tally.judge(record, outcome)
                    require_writable(store)
        finally:
            if tally.pages:
                # Whatever ended it: what was read until then is remembered.
                tally.report()
                say(_holds(store, name))
    report_skipped(pages)


def _namespace_for(options: argparse.Namespace, of_export: str | None = None) -> str:
    """The namespace that is asked for, else the only one, else that of the export."""
    if options.namespace is not None:
        return str(options.namespace)
    if names := namespaces_at(options.store):
        if len(names) == 1:
            return names[0]
        with looking_at(options.store) as reader:
            return namespace_in(reader, None)
    if of_export is None:
        raise InputError(
            "STORE",
            "there is no namespace in it yet; name the spider that will use it with --namespace",
        )
    return of_export


def _require_comparable(head: Head, source: str, given: str, namespace: str) -> None:
    """Sketches made under two secrets resemble by chance alone; they must not meet.

    A recipe depends on the secret, so an export without one is known to be of this namespace.
    """
    known, has_pages = _known(given, namespace)
    if head.secret is None and (known is None or known.recipe != head.recipe):
        raise InputError(
            source,
            "holds no secret, so its pages can only go back to the namespace they are from, and "
            f"{namespace} is another one. Export them again with --with-secret, or import the "
            "pages themselves",
        )
    if head.secret and known and has_pages and known.secret != head.secret:
        raise InputError(
            source,
            f"was made under another secret than the pages that are in namespace {namespace} "
            "already, so they cannot be compared. Give a new namespace with --namespace, or "
            "import the pages themselves",
        )


def _known(given: str, name: str) -> tuple[Namespace | None, bool]:
    """A namespace, where it is there, and whether it has pages."""
    if name not in namespaces_at(given):
        return None, False
    with looking_at(given) as reader:
        [space] = [space for space in reader.namespaces() if space.name == name]
        return space, next(reader.pages(name), None) is not None


def _holds(store: Store, namespace: str) -> str:
    return f"namespace {namespace} of {store.name} holds {counted_pages(len(store))}"
