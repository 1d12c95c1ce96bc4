"""``scrapy neardup store export`` and ``import``: move pages between stores."""

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

#: Fields that tell a line of a scan's output from a page.
_OF_SCAN = {"verdict", "fingerprint"}
_CONTENT = {"html", "html_b64", "text"}


def add_commands(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Add the two sub-commands."""
    parser = new_command(
        commands,
        "export",
        "Export the pages of a namespace as JSON Lines, for another machine or version.",
        _export,
        add_global_options,
    )
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
    parser = new_command(
        commands,
        "import",
        "Add the pages of an export, or of an earlier crawl, to a store.",
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
        say(f"{counted_pages(left_out)} left out: not known to be on disk yet")
    if options.with_secret:
        say(
            f"warning: {options.output} contains the store's secret, which allows to forge copies; "
            "keep it private"
        )


def _import(options: argparse.Namespace, settings: BaseSettings) -> None:
    exports, pages = _classify(options.files)
    for source in exports:
        _import_export(source, options)
    if pages:
        _import_pages(pages, options, settings)


def _classify(sources: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide the sources into exports and sources of pages.

    :raises InputError: when one is the output of a scan.
    """
    exports: list[str] = []
    pages: list[str] = []
    for source in sources:
        start = beginning(source)
        if _is_of_scan(start):
            raise InputError(
                source,
                "is the output of scan, which has fingerprints only; import the scanned pages "
                "themselves, or scan them with --store and --add",
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
    """Does a page of an export replace the stored page with its URL?"""
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
            # After an error, too, because the pages read so far are stored.
            what = f"{counted_pages(read)}{_and_rules(rules)} read"
            note = f", {older} were there already" if older else ""
            say(f"{source}: {what}{note}; {_size_line(store, name)}")


def _add_rules(store: Store, rules: Mapping[str, bytes]) -> int:
    """Add new rules, and return the number of given rules.

    A rule that the store has is kept: it was learned later, or switched off.
    """
    known = store.rules()
    store.put_rules({name: body for name, body in rules.items() if name not in known})
    return len(rules)


def _and_rules(number: int) -> str:
    """Return a number of rules in words, to append to pages; empty for 0."""
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
                # After an error, too, because the pages read so far are stored.
                tally.report()
                say(_size_line(store, name))
    report_skipped(pages)


def _namespace_for(options: argparse.Namespace, of_export: str | None = None) -> str:
    """Return the namespace to import into: as given, the store's only one, or the export's."""
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
            "it has no namespace yet; give the name of the spider that will use it with "
            "--namespace",
        )
    return of_export


def _require_comparable(head: Head, source: str, given: str, namespace: str) -> None:
    """Check that the sketches of an export and of a namespace were made with the same secret.

    A recipe depends on the secret, so an export without a secret is from this namespace if the
    recipes are equal.

    :raises InputError: when they were not.
    """
    known, has_pages = _find_namespace(given, namespace)
    if head.secret is None and (known is None or known.recipe != head.recipe):
        raise InputError(
            source,
            "has no secret, so its pages can only be imported to their original namespace, which "
            f"{namespace} is not. Export them again with --with-secret, or import the pages "
            "themselves",
        )
    if head.secret and known and has_pages and known.secret != head.secret:
        raise InputError(
            source,
            f"was made with another secret than the pages in namespace {namespace}, so they cannot "
            "be compared. Give a new namespace with --namespace, or import the pages themselves",
        )


def _find_namespace(given: str, name: str) -> tuple[Namespace | None, bool]:
    """Return a namespace, if it exists, and whether it has pages."""
    if name not in namespaces_at(given):
        return None, False
    with looking_at(given) as reader:
        [space] = [space for space in reader.namespaces() if space.name == name]
        return space, next(reader.pages(name), None) is not None


def _size_line(store: Store, namespace: str) -> str:
    return f"namespace {namespace} of {store.name} has {counted_pages(len(store))}"
