"""``scrapy neardup rules``: list and switch the URL rules that crawls have learned."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches

from scrapy.settings import BaseSettings

from .._util.wording import quantity
from ..exceptions import InvalidOption
from ..url_rules.rule import State, UrlRule
from .support.options import Commands
from .support.output import format_time, open_output, print_message, print_output, table
from .support.store_address import (
    add_store,
    namespace_in,
    open_for_reading,
    open_for_writing,
    parse_domain,
    paths_of,
    require_writable,
)
from .support.url_discarder import convert

_STATES: tuple[State, ...] = ("in_force", "off", "withdrawn", "watched")


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "List the URL rules that crawls have learned, switch them off or on, and export them."
    parser = commands.add("rules", summary, _run)
    add_store(parser)
    parser.add_argument("--site", type=parse_domain, help="only rules of this registrable domain")
    parser.add_argument("--json", action="store_true", help="print JSON Lines")
    for option, what in (
        ("--off", "switch off the rule of this name, for all crawls (may be repeated)"),
        ("--on", "undo --off: let evidence decide on the rule again (may be repeated)"),
    ):
        parser.add_argument(option, metavar="RULE", action="append", default=[], help=what)
    parser.add_argument(
        "--export",
        metavar="FILE",
        help="write the rules in force for duplicate-url-discarder to a file, or - for stdout",
    )


def _run(options: argparse.Namespace, settings: BaseSettings) -> None:
    with open_for_reading(options.store) as reader:
        namespace = namespace_in(reader, options.namespace).name
        rules = _unpacked(reader.rules(namespace))
    rules = [rule for rule in rules if options.site in (None, rule.site)]
    if options.off or options.on:
        _switch(rules, options, namespace)
    if options.export is not None:
        _export(rules, options)
    elif options.json:
        sys.stdout.writelines(f"{json.dumps(_rule_object(rule))}\n" for rule in rules)
    elif not (options.off or options.on):
        _show(rules, namespace)


def _unpacked(packed: dict[str, bytes]) -> list[UrlRule]:
    """Return the rules, those in force first."""
    rules = []
    for body in packed.values():
        with suppress(ValueError):
            rules.append(UrlRule.from_bytes(body))
    if unread := len(packed) - len(rules):
        print_message(f"{quantity(unread, 'rule')} cannot be read: of a later version or damaged")
    return sorted(rules, key=lambda rule: (_STATES.index(rule.state), rule.name))


def _switch(rules: Sequence[UrlRule], options: argparse.Namespace, namespace: str) -> None:
    """Change the states of rules in the list and in the store."""
    changed = [
        *(_switched(rules, name, "--off", "off") for name in options.off),
        *(_switched(rules, name, "--on", "watched") for name in options.on),
    ]
    with open_for_writing(options.store, namespace) as store:
        store.put_rules({rule.name: rule.to_bytes() for rule in changed})
        require_writable(store)
    for rule in changed:
        print_message(f"{'off' if rule.state == 'off' else 'on again'}: {rule.name} ({rule.text})")


def _switched(rules: Sequence[UrlRule], name: str, option: str, state: State) -> UrlRule:
    """Return the rule of a name in a new state; refuse names that cannot be switched to it."""
    is_off = state != "off"
    choice = {rule.name: rule for rule in rules if (rule.state == "off") == is_off}
    if name not in choice:
        kind = "switched off" if is_off else "not switched off"
        near = get_close_matches(name, choice, n=1)
        hint = f", such as {near[0]!r}" if near else ""
        if all(rule.name != name for rule in rules):
            hint += ". There is no such rule; `scrapy neardup rules STORE` lists them"
        raise InvalidOption(option, name, f"the name of a rule that is {kind}{hint}")
    rule = choice[name]
    rule.state, rule.changed_at = state, int(time.time())
    return rule


def _export(rules: Sequence[UrlRule], options: argparse.Namespace) -> None:
    done = convert(rules)
    with open_output(options.export, paths_of(options.store)) as output:
        output.write(json.dumps(done.rules, indent=2, ensure_ascii=False) + "\n")
    print_message(
        f"{options.export}: {quantity(len(done.converted), 'rule')} in force, as {len(done.rules)} "
        f"of duplicate-url-discarder; {quantity(len(done.refused), 'rule')} could not be expressed"
    )
    for reason, number in Counter(reason for _, reason in done.refused).most_common():
        example = next(rule.name for rule, why in done.refused if why == reason)
        print_message(f"  {number}: {reason} ({example})")


def _show(rules: Sequence[UrlRule], namespace: str) -> None:
    rows = (
        (
            rule.name,
            rule.state.replace("_", " "),
            f"{rule.evidence.agreements}{f' ({named} named)' if named else ''}",
            rule.evidence.contradictions,
            f"{rule.wrong_at_most:.1%}",
            format_time(rule.changed_at or None) or "-",
        )
        for rule in rules
        for named in [rule.evidence.agreements_by_name]
    )
    heads = ("rule", "state", "agree", "contradict", "wrong at most", "since")
    counts = Counter(rule.state for rule in rules)
    states = ", ".join(f"{counts[state]} {state.replace('_', ' ')}" for state in _STATES)
    print_output(
        table(*heads, rows=rows),
        f"namespace {namespace}: {quantity(len(rules), 'rule')} ({states})",
    )


def _rule_object(rule: UrlRule) -> dict[str, object]:
    """Return the JSON object of a rule."""
    fields = json.loads(rule.to_bytes())
    fields["named"] = rule.evidence.agreements_by_name
    fields["changed_at"] = format_time(rule.changed_at or None)
    return {"rule": rule.name, "text": rule.text, **fields, "wrong_at_most": rule.wrong_at_most}
