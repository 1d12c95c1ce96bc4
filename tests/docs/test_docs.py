"""Everything public is documented, and the documented examples are correct."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.settings import Settings

import scrapy_neardup
from scrapy_neardup import NearDupError, PageLimits, Rule, signals, stores
from scrapy_neardup.commands import Command
from scrapy_neardup.crawl.file_settings import FileSettings
from scrapy_neardup.crawl.settings import (
    POLICY_OPTIONS,
    SETTINGS,
    Policy,
    StoreSettings,
    UrlRuleSettings,
)
from scrapy_neardup.methods import METHODS
from scrapy_neardup.reasons import Reason
from scrapy_neardup.workers import Limits
from tests.support.crawl import run_crawl
from tests.support.documents import DOCUMENTS, ROOT
from tests.support.server import serving
from tests.support.texts import FERRY, page

README = (ROOT / "README.md").read_text("utf-8")
QUALITY = (ROOT / "docs" / "quality.md").read_text("utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")
API = (ROOT / "docs" / "api.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "settings.md").read_text("utf-8")

#: Not those of Spidermon, whose names contain ours.
_SETTING = re.compile(r"(?<![A-Z_])NEARDUP_[A-Z0-9_]*[A-Z0-9]")
_DEFAULTS = re.compile(r"\| `(NEARDUP_\w+)` \| `([^`]+)` \|")


def test_figures_of_the_readme_are_those_of_the_tables():
    shares = re.findall(r"([\d.]+)(?: of them)?\s+\(([\d,]+) of ([\d,]+)\)", README)
    assert len(shares) == 4
    for share, part, whole in shares:
        assert f"| {share} ({part}/{whole}) |" in QUALITY


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_is_documented(setting):
    assert f"| `{setting}` |" in REFERENCE
    assert f"### {setting}\n" in REFERENCE


def test_documented_settings_exist():
    named = set(re.findall(r"NEARDUP_[A-Z0-9_]+", README + REFERENCE))
    assert named == set(SETTINGS)
    for path in DOCUMENTS:
        assert set(_SETTING.findall(path.read_text("utf-8"))) <= named


def test_the_defaults_are_as_documented():
    defaults = dict(_DEFAULTS.findall(REFERENCE))
    policy, plan = Policy(), StoreSettings()
    actual = {
        "NEARDUP_ENABLED": True,
        **{f"NEARDUP_{f.name.upper()}": getattr(policy.rule, f.name) for f in fields(Rule)},
        "NEARDUP_ACTION": policy.action,
        "NEARDUP_LINKS": policy.links,
        "NEARDUP_ITEM_FIELD": None,
        "NEARDUP_TOKENIZER": "auto",
        "NEARDUP_IDF": "multilingual",
        "NEARDUP_EXTRACTOR": "trafilatura",
        "NEARDUP_METHOD": None,
        "NEARDUP_CONTAINMENT": False,
        "NEARDUP_CONTAINMENT_FIELD": "neardup_containment",
        "NEARDUP_ITEM_FIELDS": None,
        "NEARDUP_PREFER": "first",
        "NEARDUP_COPIES": None,
        "NEARDUP_EXTRACTION": "full",
        "NEARDUP_BODY_CACHE": 256,
        "NEARDUP_REVISIT": policy.revisit,
        "NEARDUP_SOFT_404": policy.soft_404,
        "NEARDUP_TTL": plan.ttl,
        "NEARDUP_MAX_WAIT": plan.max_wait,
        "NEARDUP_ON_STORE_ERROR": plan.on_store_error,
        **{
            f"NEARDUP_{f.name.upper()}": getattr(UrlRuleSettings(), f.name)
            for f in fields(UrlRuleSettings)
        },
        "NEARDUP_RECOVER": False,
        "NEARDUP_REPORT": None,
        "NEARDUP_KEEP_TEXT": False,
        "NEARDUP_METRICS": None,
        "NEARDUP_METRICS_INTERVAL": 15.0,
        "NEARDUP_ITEM_LOG_LEVEL": "DEBUG",
        "NEARDUP_PAGE_TIMEOUT": Limits.seconds,
        "NEARDUP_WORKER_MEMORY": Limits.memory_mb,
        **{
            f"NEARDUP_MAX_{f.name.upper()}": getattr(PageLimits(), f.name)
            for f in fields(PageLimits)
        },
        "NEARDUP_FILES_MAX_BYTES": FileSettings.max_bytes,
        "NEARDUP_FILES_MIN_SIMILARITY": FileSettings.min_similarity,
    }
    assert defaults == {name: repr(value).replace("'", '"') for name, value in actual.items()}
    assert dict(_DEFAULTS.findall(README)).items() <= defaults.items()
    for name, value in defaults.items():
        assert f"### {name}\nDefault: `{value}`" in REFERENCE


def test_methods_and_their_parameters_are_as_documented():
    documented = (ROOT / "docs" / "methods.md").read_text("utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| ((?:`\w+=[^`]*`(?:, )?)+) \|", documented, re.M))
    assert table == {
        name: ", ".join(
            f"`{each.name}={each.default}`"
            for each in signature(kind).parameters.values()
            if each.name != "tokenizer"
        )
        for name, kind in METHODS.items()
    }
    assert set(re.findall(r"^\| `(\w+)` \| [^`]", documented, re.M)) >= set(METHODS)


def test_every_stat_in_the_code_is_documented():
    # Stores and reports count what is theirs; a crawl's stats are counted elsewhere.
    package = ROOT / "scrapy_neardup"
    code = "".join(
        path.read_text("utf-8")
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ("stores", "report", "commands")
    )
    names = set(re.findall(r'(?:_|stats\.)count\(f?"([a-z_/]+)', code))
    # What is made up at run time is looked for in each crawl of the tests, see run_crawl().
    names |= set(re.findall(r'set_value\("neardup/([a-z_/]+)"', code))
    names |= {f"url_rules/{what}" for what in re.findall(r'_count_by_rule\("(\w+)"', code)}
    names |= {f"skipped/{reason}" for reason in re.findall(r'pass_page\("(\w+)"[,)]', code)}
    names |= set(re.findall(r'_value\(f?"neardup/([a-z_/]+)', code))
    assert len(names) > 10
    for name in names:
        assert f"`neardup/{name}" in REFERENCE, name


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_documented(reason):
    assert f"`{reason}`" in REFERENCE or f"`neardup/skipped/{reason}`" in REFERENCE


def test_compatibility_names_its_tests_and_the_lowest_versions():
    document = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
    tests = set(re.findall(r"`(tests/[a-z/_]+\.py)`", document))
    modules = (ROOT / "tests" / "compatibility").glob("test_*.py")
    assert tests >= {path.relative_to(ROOT).as_posix() for path in modules}
    assert all((ROOT / path).exists() for path in tests)
    bounds = dict(
        re.findall(
            r'^    "([\w-]+)[^">]*>=([\d.]+)', (ROOT / "pyproject.toml").read_text("utf-8"), re.M
        )
    )
    rows = re.findall(r"^\| \[([\w-]+)\]\(#[\w-]+\) \| ([\d.]+) \|", document, re.M)
    assert len(rows) > 5
    assert dict(rows).items() <= bounds.items()


def test_the_limits_of_the_monitors_are_documented():
    from scrapy_neardup.monitors import MONITOR_SETTINGS

    document = (ROOT / "docs" / "monitoring.md").read_text("utf-8")
    table = re.findall(r"^\| `(SPIDERMON_NEARDUP_\w+)` \| `([^`]+)` \|", document, re.M)
    assert dict(table) == {name: str(value) for name, value in MONITOR_SETTINGS.items()}


def section(document: str, heading: str) -> str:
    """Return the text under a second-level heading."""
    return document.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("option", POLICY_OPTIONS)
def test_every_key_of_the_meta_is_documented(option):
    assert f"`{option}`" in section(REFERENCE, 'request.meta["neardup"]')


@pytest.mark.parametrize(
    "signal", [name for name, it in vars(signals).items() if type(it) is object]
)
def test_every_signal_is_documented(signal):
    assert f"{signal}(" in section(REFERENCE, "Signals")


@pytest.mark.parametrize(
    "name",
    [
        *(f"scrapy_neardup.{name}" for name in scrapy_neardup.__all__),
        *(f"scrapy_neardup.stores.{name}" for name in stores.__all__),
    ],
)
def test_everything_public_is_in_the_api(name):
    assert re.search(rf"^\.\. auto(class|exception|function|data):: {name}$", API, re.M)


def test_every_error_is_in_the_api():
    defined = {
        kind
        for path in (ROOT / "scrapy_neardup").rglob("*.py")
        if path.stem not in ("__init__", "preload")
        for module in [".".join(path.relative_to(ROOT).with_suffix("").parts)]
        for kind in vars(import_module(module)).values()
        if isinstance(kind, type)
        and issubclass(kind, (NearDupError, DropItem, IgnoreRequest))
        and kind.__module__ == module
    }
    assert {"StoreInUse", "UnchangedPage"} <= {kind.__name__ for kind in defined}
    for kind in defined:
        assert re.search(
            rf"autoexception:: scrapy_neardup\.([a-z_.]+\.)?{kind.__name__}$", API, re.M
        )


def test_the_drawing_names_modules_that_there_are():
    drawing = (ROOT / "docs" / "way-of-a-page.svg").read_text("utf-8")
    modules = set(
        re.findall(r"\b(\w+\.py|\w+/)(?=[<,; ])", re.sub(r"<(?!/text)[^>]*>", "", drawing))
    )
    assert {"extraction.py", "rule.py", "stores/", "url_rules/"} <= modules
    for module in modules:
        assert list((ROOT / "scrapy_neardup").rglob(module.rstrip("/"))), module


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_existing_targets(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = path.parent / name if name else path
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def sub_commands() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all sub-commands that do something, by their names."""
    parser = argparse.ArgumentParser()
    command = Command()
    command.settings = Settings()
    command.add_options(parser)
    return dict(ends_of("", parser))


def ends_of(
    name: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    inner = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not inner:
        yield name, parser
    for choices in inner:
        for word, choice in choices.items():
            yield from ends_of(f"{name} {word}".strip(), choice)


def own_options(parser: argparse.ArgumentParser) -> set[str]:
    """Return the options of a command that are not Scrapy's."""
    everywhere = argparse.ArgumentParser()
    command = Command()
    command.settings = Settings()
    ScrapyCommand.add_options(command, everywhere)
    return (
        set(parser._option_string_actions) - set(everywhere._option_string_actions) - {"--output"}
    )


def test_every_command_is_documented_and_no_other():
    headings = set(re.findall(r"^##+ ([a-z ]+)$", COMMANDS, re.M)) - {"store"}
    assert headings == set(sub_commands())
    named = set(re.findall(r"scrapy neardup ((?:store |idf )?[a-z]+)", COMMANDS + README))
    assert named == set(sub_commands())


def test_every_option_of_a_command_is_documented_and_no_other():
    options = set().union(*map(own_options, sub_commands().values()))
    of_scrapy = COMMANDS.replace("python -m benchmarks", "")
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", of_scrapy))
    assert options <= named
    assert named - options <= {"-s"}


def test_the_readmes_python_example_prints_what_it_says():
    [example] = [
        block for block in re.findall(r"```python\n(.*?)```", README, re.S) if "print" in block
    ]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(example, "README.md", "exec"), {})
    assert f"# {output.getvalue()}" in example


def test_the_readmes_log_lines_are_what_the_log_says():
    with serving({"/1": page(FERRY)}) as site:
        crawl = run_crawl([site.url("/1")])
    shown, said = re.findall(r"INFO: (.*)", README), crawl.logged("INFO")
    # The README shows it as it is without the extra package.
    assert shown[0] == said[0].replace("tokenizer rjieba (", "tokenizer jieba (")
    assert [part.split(":")[0] for part in shown[1].split(";")][:4] == [
        part.split(":")[0] for part in said[1].split(";")
    ][:4]
