"""Checks that no module, function or folder is larger than a reader can follow.

It looks at the package and at the benchmarks, but not into folders with a dot in front, such as
that of programs which the benchmarks install.

Exit status: 0 when none is, else 1; prints those that are.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "scrapy_neardup", ROOT / "benchmarks")
#: Lines of a module, and of a function with its decorators left out; modules of a package.
MAX_MODULE, MAX_FUNCTION, MAX_PACKAGE = 400, 45, 15


def too_large(package: Path) -> Iterator[str]:
    """Yield what is too large, as a line for each."""
    modules: Counter[Path] = Counter()
    for path in sorted(package.rglob("*.py")):
        name, text = path.relative_to(package.parent), path.read_text("utf-8")
        if any(part.startswith(".") for part in name.parts):
            continue
        modules[name.parent] += path.name != "__init__.py"
        if (n := text.count("\n")) > MAX_MODULE:
            yield f"{name} has {n} lines, but a module may have {MAX_MODULE}"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                n = (node.end_lineno or 0) - node.lineno + 1
                if n > MAX_FUNCTION:
                    where = f"{name}:{node.lineno}: {node.name}"
                    yield f"{where} has {n} lines, but a function may have {MAX_FUNCTION}"
    for folder, n in modules.items():
        if n > MAX_PACKAGE:
            yield f"{folder} has {n} modules, but a package may have {MAX_PACKAGE}"


if __name__ == "__main__":
    found = [line for package in PACKAGES for line in too_large(package)]
    print(*found, sep="\n", end="\n" * bool(found))
    sys.exit(bool(found))
