"""Build the sdist and the wheel from the last commit, and check them as a user gets them.

What is not committed is not in them. ``make check-release`` runs this; ``--keep dist`` also keeps
the files, for which everything has to be committed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from tempfile import TemporaryDirectory

from try_release import ROOT, ReleaseError, try_wheel

#: What stays in the repository; pyproject.toml excludes the same.
_NOT_IN_SDIST = (".ci/", ".github/")
_PACKAGE = "scrapy_neardup/"
_DIST_INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt"}
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.M)
#: A link that leads nowhere outside the repository.
_RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)([^)]*)\)")


@dataclass(frozen=True)
class Files:
    """The distributions.

    :ivar sdist: the source distribution.
    :ivar wheel: built from it.
    :ivar direct: the wheel that the tree itself gives.
    :ivar tree: what is committed, in a folder of its own.
    """

    sdist: Path
    wheel: Path
    direct: Path
    tree: Path


def main() -> None:
    """Exit with status 1 and a line that says what is wrong, if anything is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files here")
    parser.add_argument("--tag", help="that is to be published, such as v0.1.0")
    parser.add_argument("--no-try", action="store_true", help="do not install the wheel")
    options = parser.parse_args()
    try:
        with TemporaryDirectory() as folder:
            files = build(Path(folder), keep=options.keep)
            check(files, tag=options.tag)
            if not options.no_try:
                try_wheel(files.wheel)
            if options.keep:
                keep(files, options.keep)
    except ReleaseError as error:
        sys.exit(str(error))


def build(folder: Path, *, keep: Path | None) -> Files:
    """Build everything in a folder from the last commit.

    :param keep: whether the files are kept, for which everything must be committed.
    :raises ReleaseError: when something is not.
    """
    changed = _git("status", "--porcelain").decode()
    if changed and keep:
        raise ReleaseError(f"not committed, so it would not be in the release:\n{changed}")
    if changed:
        print(f"Not committed, and so not in what is checked:\n{changed}", end="", flush=True)
    tree = folder / "tree"
    with zipfile.ZipFile(io.BytesIO(_git("archive", "--format=zip", "HEAD"))) as archive:
        archive.extractall(tree)
    # Without options the wheel is built from the sdist.
    _python("build", "--outdir", str(folder / "dist"), str(tree))
    _python("build", "--wheel", "--outdir", str(folder / "direct"), str(tree))
    return Files(
        _only(folder / "dist", "*.tar.gz"),
        _only(folder / "dist", "*.whl"),
        _only(folder / "direct", "*.whl"),
        tree,
    )


def check(files: Files, *, tag: str | None) -> None:
    """Check the names, the contents and the metadata of the files.

    :param tag: that has to name the version; ``None`` for none.
    :raises ReleaseError: when something is wrong.
    """
    _python("twine", "check", "--strict", str(files.sdist), str(files.wheel))
    version = version_of(files.tree)
    check_sdist(files, version)
    check_wheel(files)
    check_metadata(files.wheel, version)
    if tag is not None:
        check_tag(files.tree, tag)
    print(f"Checked {files.sdist.name} and {files.wheel.name}", flush=True)


def check_sdist(files: Files, version: str) -> None:
    """The sdist has what is committed, byte for byte, and the same wheel is built from it."""
    prefix = f"scrapy_neardup-{version}/"
    with tarfile.open(files.sdist) as archive:
        found = {
            member.name.removeprefix(prefix): stream.read()
            for member in archive.getmembers()
            if (stream := archive.extractfile(member)) is not None
        }
    found.pop("PKG-INFO", None)
    _compare("sdist", found, _committed(files.tree, without=_NOT_IN_SDIST))
    if _digest(files.wheel) != _digest(files.direct):
        raise ReleaseError(
            f"{files.wheel.name} differs when it is built from the tree and from the sdist"
        )


def check_wheel(files: Files) -> None:
    """The wheel has the package as it is committed, data included, and nothing else."""
    with zipfile.ZipFile(files.wheel) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    package = {name: data for name, data in found.items() if name.startswith(_PACKAGE)}
    committed = _committed(files.tree, only=_PACKAGE)
    _compare("wheel", package, committed)
    others = {name.partition(".dist-info/")[2] for name in set(found) - set(package)}
    licenses = {name for name in others if name.startswith("licenses/")}
    if others - licenses != _DIST_INFO or "licenses/LICENSE" not in licenses:
        raise ReleaseError(f"the wheel's .dist-info has {sorted(others)}")


def check_metadata(wheel: Path, version: str) -> None:
    """The wheel is of this version, and its description has no link that leads nowhere."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    if metadata["Version"] != version:
        raise ReleaseError(f"the wheel is of version {metadata['Version']}, not {version}")
    description = metadata.get_payload(decode=True)
    assert isinstance(description, bytes)
    if relative := _RELATIVE_LINK.findall(description.decode()):
        raise ReleaseError(f"links that lead nowhere on PyPI: {', '.join(relative)}")


def check_tag(tree: Path, tag: str) -> None:
    """A tag names the version, whose changes have the day that CITATION.cff says.

    :raises ReleaseError: when it does not.
    """
    version = version_of(tree)
    if tag != f"v{version}":
        raise ReleaseError(
            f"the tag is {tag}, but __version__ is {version}: it would have to be v{version}"
        )
    changes = (tree / "CHANGES.md").read_text("utf-8")
    heading = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changes, re.M)
    if heading is None:
        raise ReleaseError(f"CHANGES.md has no heading '## [{version}] - YYYY-MM-DD'")
    released = f"date-released: {heading[1]}"
    if released not in (tree / "CITATION.cff").read_text("utf-8").splitlines():
        raise ReleaseError(f"CITATION.cff does not say '{released}', as CHANGES.md does")


def keep(files: Files, folder: Path) -> None:
    """Copy the distributions into a folder, with conda-forge's recipe of this sdist."""
    folder.mkdir(parents=True, exist_ok=True)
    if left := sorted(path.name for path in folder.iterdir()):
        raise ReleaseError(f"{folder} is not empty: {', '.join(left)}")
    for path in (files.sdist, files.wheel):
        shutil.copy2(path, folder)
    recipe = (files.tree / "conda" / "recipe.yaml").read_text("utf-8")
    (folder / "recipe.yaml").write_text(published_recipe(recipe, files.sdist), "utf-8")
    print(f"Wrote the distributions and recipe.yaml to {folder}")


def published_recipe(recipe: str, sdist: Path) -> str:
    """Return a recipe that takes the sdist from PyPI instead of a checkout."""
    address = (
        "https://pypi.org/packages/source/s/scrapy-neardup/scrapy_neardup-${{ version }}.tar.gz"
    )
    local, published = "  path: ..\n", f"  url: {address}\n  sha256: {_digest(sdist)}\n"
    if recipe.count(local) != 1:
        raise ReleaseError(f"conda/recipe.yaml does not have the line {local.rstrip()!r} once")
    # The comment is on the source of a checkout.
    return re.sub(r"^#.*\n", "", recipe, flags=re.M).replace(local, published)


def version_of(tree: Path) -> str:
    """Return the version, whose only source is the package itself."""
    found = _VERSION.search((tree / "scrapy_neardup" / "__init__.py").read_text("utf-8"))
    if found is None:
        raise ReleaseError('scrapy_neardup/__init__.py has no line __version__ = "…"')
    return found[1]


def _committed(tree: Path, *, only: str = "", without: tuple[str, ...] = ()) -> dict[str, bytes]:
    names = _git("ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")
    return {
        name: (tree / name).read_bytes()
        for name in filter(None, names)
        if name.startswith(only) and not name.startswith(without or ("\0",))
    }


def _compare(what: str, found: dict[str, bytes], wanted: dict[str, bytes]) -> None:
    for says, names in {
        "lacks": set(wanted) - set(found),
        "has files that are not committed": set(found) - set(wanted),
        "has others than are committed": {
            name for name in set(found) & set(wanted) if found[name] != wanted[name]
        },
    }.items():
        if names:
            raise ReleaseError(f"the {what} {says}: {_listed(names)}")


def _listed(names: Iterable[str]) -> str:
    first = sorted(names)
    return ", ".join(first[:10]) + (f", and {len(first) - 10} more" if len(first) > 10 else "")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def _python(module: str, *arguments: str) -> None:
    """Run a module; the files that it builds have the time of the commit."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct").decode().strip()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"{done.stdout}\npython -m {module} {arguments[0]} failed, see above")


def _only(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
