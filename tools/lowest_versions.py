"""Print the lowest version of each dependency that pyproject.toml allows, for pip -c."""

from __future__ import annotations

import re
from importlib.metadata import requires


def main() -> None:
    """One ``name==version`` a line, for all requirements of the installed package."""
    for requirement in requires("scrapy-neardup") or ():
        bound = re.match(r"([\w.-]+)>=([\w.]+)", requirement)
        if bound is None:
            raise SystemExit(f"pyproject.toml declares no lower bound: {requirement}")
        print(f"{bound[1]}=={bound[2]}")


if __name__ == "__main__":
    main()
