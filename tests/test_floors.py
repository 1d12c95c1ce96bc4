"""The house stands as it was drawn: modules import downwards only, and the lower floors
do not know Scrapy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "scrapy_neardup"

#: Floor of each module; a package's face stands on the floor of what it hands on.
FLOORS = {
    "exceptions": 0,
    "arrays": 0,
    "simhash": 0,
    "sketch": 0.1,
    "urls": 0,
    "printable": 0,
    "checks": 0.2,
    "encodings": 0.5,
    "limits": 0.5,
    "repair": 0.5,
    "carriers": 0.5,
    "scripted": 0.5,
    "consent": 0.5,
    "characters": 0.5,
    "normalization": 0.6,
    "extract": 1,
    "tokens": 1,
    "idf": 1,
    "features": 1.4,
    "values": 1.4,
    "numbering": 1.4,
    "vocabulary": 1.5,
    "titles": 1.3,
    "frame": 1.6,
    "index": 1,
    "pairs": 1.1,
    "clusters": 1,
    "frequent": 0,
    "records": 1,
    "page": 2,
    "verdict": 2.1,
    "value_differences": 1.5,
    "value_rules": 2.1,
    "judgement": 2.2,
    "search": 2.3,
    "swallowing": 2.3,
    "summary": 2.4,
    "matching": 2.35,
    "learning.addresses": 1,
    "learning.endless": 1,
    "learning.evidence": 1.05,
    "learning.families": 1,
    "learning.forms": 1.1,
    "learning.known": 1.2,
    "learning.rules": 1.1,
    "learning.skipped": 1.2,
    "learning.rulebook": 1.2,
    "learning.trials": 1.25,
    "learning.site_rules": 1.3,
    "learning.learner": 1.4,
    "learning": 1.5,
    "stores.rows": 2.4,
    "stores.keys": 2.4,
    "stores.packing": 2.4,
    "stores.advice": 2.4,
    "stores.base": 2.4,
    "stores.archive": 2.4,
    "stores.local": 2.5,
    "stores.memory": 2.6,
    "stores.sqlite_format": 2.41,
    "stores.sqlite_advice": 2.42,
    "stores.sqlite_batch": 2.45,
    "stores.sqlite_file": 2.5,
    "stores.reading": 2.5,
    "stores.sqlite": 2.6,
    "stores.sqlite_reading": 2.62,
    "stores.redis_address": 2.4,
    "stores.redis_layout": 2.4,
    "stores.redis_link": 2.5,
    "stores.redis_namespace": 2.6,
    "stores.redis_shelf": 2.6,
    "stores.redis_advice": 2.6,
    "stores.redis_runs": 2.6,
    "stores.redis_pages": 2.61,
    "stores.redis_lookup": 2.62,
    "stores.redis": 2.63,
    "stores.redis_reading": 2.62,
    "stores.exports": 2.62,
    "stores.opening": 2.65,
    "stores": 2.7,
    "detector": 2.8,
    "preload": 2.5,
    "workers.channel": 1,
    "workers.memory_guard": 1,
    "workers.tasks": 2.81,
    "workers.worker": 2.82,
    "workers.forkserver": 2.83,
    "workers.spawning": 2.83,
    "workers.process": 2.84,
    "workers.task_queue": 2.84,
    "workers.supervisor": 2.85,
    "workers.pool": 2.86,
    "workers": 2.9,
    "report.decisions": 2.4,
    "report.texts": 1,
    "report.columns": 2.5,
    "report.document": 1.2,
    "report.stored": 2.75,
    "report": 2.76,
    "config": 3,
    "setting_names": 0,
    "signals": 3,
    "awaiting": 3,
    "responses": 3,
    "jobs": 3.1,
    "job_journal": 3.11,
    "feeds": 3,
    "stored_items": 0,
    "carried_values": 3.05,
    "outcomes": 3,
    "origins": 3.1,
    "following": 3.1,
    "built_items": 3.15,
    "remembering": 3.1,
    "links": 3,
    "loaded_urls": 1,
    "known_urls": 3,
    "held": 3,
    "sparing": 3.15,
    "scrapy_versions": 2.9,
    "throttle": 3,
    "signing": 3.1,
    "pipeline_order": 3,
    "start_errors": 3.1,
    "switches": 3.1,
    "telling": 3.1,
    "reporting": 3.05,
    "extensions": 3.2,
    "downloadermiddlewares": 3.4,
    "spidermiddlewares": 3.4,
    "pipelines": 3.4,
    "fingerprints": 3,
    "dupefilters": 3.4,
    "addon": 3.6,
    "commands.terminal": 4,
    "commands.output": 4,
    "commands.fetch": 4,
    "commands.figures": 4,
    "commands.options": 4.2,
    "commands.places": 4.2,
    "commands.tally": 4.2,
    "commands.scan": 4.4,
    "commands.pairs": 4.4,
    "commands.transfer": 4.4,
    "commands.store": 4.5,
    "commands.discarder": 4.2,
    "commands.rules": 4.4,
    "commands.compare": 4.4,
    "commands.idf": 4.4,
    "commands.plot": 4.2,
    "commands.evaluate": 4.4,
    "commands.report": 4.5,
    "commands": 4.6,
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
MODULES.pop("__init__")


def imports_of(name: str) -> set[str]:
    """Modules of this package that a module imports, at any depth of its code."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("scrapy_neardup") for alias in node.names)
        if not isinstance(node, ast.ImportFrom):
            continue
        assert not (node.module or "").startswith("scrapy_neardup"), "imports here are relative"
        if node.level:
            parts = package.split(".") if package else []
            base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
            found |= {
                inner if (inner := f"{base}.{alias.name}".lstrip(".")) in MODULES else base
                for alias in node.names
            }
    return found


def test_every_module_has_its_floor():
    assert set(MODULES) == set(FLOORS)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downwards(name):
    for imported in imports_of(name):
        assert FLOORS[imported] < FLOORS[name], f"{name} imports {imported}"


def test_the_lower_floors_do_not_load_scrapy():
    lower = [name for name, floor in FLOORS.items() if floor < 3]
    program = (
        "import sys\n"
        "from importlib import import_module\n"
        f"for name in {lower!r}:\n"
        "    import_module(f'scrapy_neardup.{name}')\n"
        "    if {'scrapy', 'twisted'} & {module.split('.')[0] for module in sys.modules}:\n"
        "        sys.exit(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == ""


def test_the_detector_works_where_scrapy_cannot_be_imported():
    program = (
        "import sys\n"
        "sys.modules['scrapy'] = sys.modules['twisted'] = None\n"
        "from scrapy_neardup import NearDupDetector\n"
        "detector = NearDupDetector()\n"
        "print(detector.check(url='https://a.example/', html='<p>我来到北京清华大学</p>').kind)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "undecided"


def test_the_package_offers_what_it_names():
    import scrapy_neardup

    assert all(hasattr(scrapy_neardup, name) for name in scrapy_neardup.__all__)
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = scrapy_neardup.NoSuchThing
