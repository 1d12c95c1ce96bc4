"""The benchmark commands that the documentation names exist."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import chain

import pytest

from benchmarks.common.programs import ROOT
from tests.support.benchmarks import run

pytestmark = pytest.mark.slow

PAGES = chain(ROOT.glob("*.md"), ROOT.glob("docs/*.md"), [ROOT / "Makefile"])
TEXT = "\n".join(path.read_text("utf-8") for path in PAGES)
README = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
IN_TABLE = re.findall(r"\| `python -m benchmarks\.([\w.]+)` \|", README)


@pytest.mark.parametrize("module", IN_TABLE)
def test_the_commands_of_the_table_tell_their_options(module):
    done = run(module, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m benchmarks.{module} ")


def test_the_documentation_names_only_modules_that_there_are():
    named = set(re.findall(r"benchmarks\.((?:[a-z]\w*\.)*[a-z]\w*)", TEXT + README))
    assert named >= {"quality", "speed", "url_rules", "stores.redis_store"}
    assert all(find_spec(f"benchmarks.{name}") for name in named)
    assert "python benchmarks/" not in TEXT


@pytest.mark.parametrize("name", ["quality", "speed"])
def test_the_scripts_are_the_modules(name):
    script = ROOT / "benchmarks" / f"{name}.py"
    told = subprocess.check_output([sys.executable, script, "--help"], text=True)
    assert told == run(name, "--help").stdout
