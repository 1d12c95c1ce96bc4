"""``scrapy neardup rules``: what was learned of URLs, and how to overrule it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..exceptions import InvalidOption
from ..url_rules.evidence import upper_bound
from ..url_rules.rule import State, UrlRule
from .support.options import AddGlobalOptions, Commands, new_command
from .support.output_files import lines_to
from .support.store_address import (
    add_store,
    looking_at,
    namespace_in,
    registrable_domain,
    require_writable,
    writing_to,
)
from .support.terminal import iso, say, show, table
from .support.url_discarder import Expressed, expressed

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_STATES: tuple[State, ...] = ("in_force", "off", "withdrawn", "watched")


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Describe the sub-command."""
    parser = new_command(
        commands,
        "rules",
        "List which parts of URLs make no difference, as crawls learned it, and overrule it.",
        _run,
        add_global_options,
    )
    add_store(parser)
    parser.add_argument(
        "--site", type=registrable_domain, help="only rules of this registrable domain"
    )
    parser.add_argument("--json", action="store_true", help="as JSON Lines")
    parser.add_argument(
        "--off",
        metavar="RULE",
        action="append",
        default=[],
        help="switch a rule off, by its name: no crawl takes it up (may be given several times)",
    )
    parser.add_argument(
        "--on",
        metavar="RULE",
        action="append",
        default=[],
        help="let a rule that was switched off be judged by its evidence again",
    )
    parser.add_argument(
        "--export",
        metavar="FILE",
        help="write the rules in force for duplicate-url-discarder, or - for stdout",
    )


def _run(options: argparse.Namespace, settings: BaseSettings) -> None:
    with looking_at(options.store) as reader:
        namespace = namespace_in(reader, options.namespace)
        rules = _unpacked(reader.rules(namespace))
    rules = [rule for rule in rules if options.site in (None, rule.site)]
    if options.off or options.on:
        _switch(rules, options, namespace)
    if options.export is not None:
        _export(rules, options)
    elif options.json:
        sys.stdout.writelines(f"{json.dumps(_told(rule))}\n" for rule in rules)
    elif not (options.off or options.on):
        _show(rules, namespace)


def _unpacked(packed: dict[str, bytes]) -> list[UrlRule]:
    """Those in force first."""
    rules, unread = [], 0
    for body in packed.values():
        try:
            rules.append(UrlRule.from_bytes(body))
        except ValueError:
            unread += 1
    if unread:
        say(f"{_counted(unread)} cannot be read, being of a later version or damaged")
    return sorted(rules, key=lambda rule: (_STATES.index(rule.state), rule.name))


def _switch(rules: Sequence[UrlRule], options: argparse.Namespace, namespace: str) -> None:
    """Change the states of rules, here and in the store."""
    changed = [
        *(_switched(rules, name, "--off", "off") for name in options.off),
        *(_switched(rules, name, "--on", "watched") for name in options.on),
    ]
    with writing_to(options.store, namespace) as store:
        store.put_rules({rule.name: rule.to_bytes() for rule in changed})
        require_writable(store)
    for rule in changed:
        say(f"{'off' if rule.state == 'off' else 'on again'}: {rule.name} ({rule.text})")


def _switched(rules: Sequence[UrlRule], name: str, option: str, state: State) -> UrlRule:
    """The rule of a name, in another state.

    :raises InvalidOption: when there is none that could be.
    """
    is_off = state != "off"
    choice = {rule.name: rule for rule in rules if (rule.state == "off") == is_off}
    if name not in choice:
        kind = "switched off" if is_off else "not switched off"
        raise InvalidOption(option, name, f"the name of a rule that is {kind}{_like(name, choice)}")
    rule = choice[name]
    rule.state, rule.changed_at = state, int(time.time())
    return rule


def _like(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), n=1)
    return f", such as {near[0]!r}" if near else ""


def _export(rules: Sequence[UrlRule], options: argparse.Namespace) -> None:
    done = expressed(rules)
    inputs = [options.store, options.store.removeprefix("sqlite:///")]
    with lines_to(options.export, inputs) as output:
        output.write(json.dumps(done.rules, indent=2, ensure_ascii=False) + "\n")
    _say_exported(done, options.export)


def _say_exported(done: Expressed, target: str) -> None:
    say(
        f"{target}: {_counted(len(done.is_said))} in force, as {len(done.rules)} of "
        f"duplicate-url-discarder; {_counted(len(done.refused))} could not be expressed"
    )
    for reason, number in Counter(reason for _, reason in done.refused).most_common():
        example = next(rule.name for rule, why in done.refused if why == reason)
        say(f"  {number}: {reason} ({example})")


def _show(rules: Sequence[UrlRule], namespace: str) -> None:
    rows = (
        (
            rule.name,
            rule.state.replace("_", " "),
            _agreements(rule),
            rule.evidence.contradictions,
            f"{_wrong_at_most(rule):.1%}",
            iso(rule.changed_at or None) or "-",
        )
        for rule in rules
    )
    heads = ("rule", "state", "agree", "contradict", "wrong at most", "since")
    counts = Counter(rule.state for rule in rules)
    told = ", ".join(f"{counts[state]} {state.replace('_', ' ')}" for state in _STATES)
    show(table(*heads, rows=rows), f"namespace {namespace}: {_counted(len(rules))} ({told})")


def _told(rule: UrlRule) -> dict[str, object]:
    """What JSON says of a rule."""
    told = json.loads(rule.to_bytes())
    told["named"] = rule.evidence.agreements_by_name
    told["changed_at"] = iso(rule.changed_at or None)
    return {"rule": rule.name, "text": rule.text, **told, "wrong_at_most": _wrong_at_most(rule)}


def _agreements(rule: UrlRule) -> str:
    """How many, and for how many of them there is only the word of canonical addresses."""
    by_name = rule.evidence.agreements_by_name
    return f"{rule.evidence.agreements}{f' ({by_name} named)' if by_name else ''}"


def _wrong_at_most(rule: UrlRule) -> float:
    """Upper bound on its share of contradictions, with a confidence of 95 %."""
    evidence = rule.evidence
    trials = evidence.agreements + evidence.contradictions
    return upper_bound(evidence.contradictions, trials)


def _counted(number: int) -> str:
    """So many rules, in words."""
    return f"{number} rule{'' if number == 1 else 's'}"
