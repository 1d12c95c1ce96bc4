"""The files of a release agree with each other, and what is published is what was checked."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_release import check_tag, published_recipe
from try_release import ReleaseError

import scrapy_neardup
from tests.support.documents import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
#: Packages that have another name at conda-forge than at PyPI.
AT_CONDA = {"xxhash": "python-xxhash"}
CHANGES = (ROOT / "CHANGES.md").read_text("utf-8")


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def at_conda(requirements: list[str]) -> set[str]:
    """Return requirements as a recipe writes them."""
    split = (each.partition(">=") for each in requirements)
    return {f"{AT_CONDA.get(name, name)} >={version}" for name, _, version in split}


def test_the_version_is_the_same_everywhere():
    assert loaded("CITATION.cff")["version"] == scrapy_neardup.__version__
    assert loaded("conda/recipe.yaml")["context"]["version"] == scrapy_neardup.__version__


def test_the_recipe_has_the_dependencies_of_the_package():
    recipe, lowest = loaded("conda/recipe.yaml"), PROJECT["project"]["requires-python"]
    assert f">={recipe['context']['python_min']}" == lowest
    needed = recipe["requirements"]
    python = "python >=${{ python_min }}"
    assert set(needed["run"]) == at_conda(PROJECT["project"]["dependencies"]) | {python}
    built_with = {each for each in needed["host"] if each.startswith("hatch")}
    assert built_with == at_conda(PROJECT["build-system"]["requires"])
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]
    assert all((ROOT / name).is_file() for name in recipe["about"]["license_file"])


def test_every_python_that_is_promised_is_tried_before_a_release():
    assert PYTHONS[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    for name, job in ("ci", "all"), ("build", "try"):
        steps = loaded(f".github/workflows/{name}.yml")["jobs"][job]
        assert steps["strategy"]["matrix"]["python"] == PYTHONS, name
    assert loaded(".github/workflows/release.yml")["jobs"]["publish"]["needs"] == "build"
    assert loaded(".readthedocs.yaml")["build"]["tools"]["python"] in PYTHONS
    docs = loaded(".github/workflows/ci.yml")["jobs"]["docs"]["steps"]
    done = {step.get("run") for step in docs}
    assert set(loaded(".readthedocs.yaml")["build"]["jobs"]["install"]) < done
    [image] = re.findall(r"^ARG PYTHON=(.*)$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    assert image in PYTHONS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_little_and_use_pinned_actions(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    may_publish = {name for name, job in workflow["jobs"].items() if "permissions" in job}
    assert may_publish == ({"publish", "image"} if path.name == "release.yml" else set())
    for action in re.findall(r"uses: (.*)", path.read_text("utf-8")):
        assert action.startswith("./") or re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", action)


def test_the_readme_runs_the_image_as_its_dockerfile_does():
    [command] = re.findall(r"docker run .*", (ROOT / "README.md").read_text("utf-8"))
    assert f"#   {command}\n" in (ROOT / "Dockerfile").read_text("utf-8")


def test_the_changes_have_the_form_of_keep_a_changelog():
    headings = re.findall(r"^## (.*)$", CHANGES, re.M)
    assert headings[0] == "[Unreleased]"
    for heading in headings[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading)
    days = [heading[-10:] for heading in headings[1:]]
    assert days == sorted(days, reverse=True)
    kinds = set(re.findall(r"^### (.*)$", CHANGES, re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for name in re.findall(r"^## \[(.*?)\]", CHANGES, re.M):
        assert re.search(rf"^\[{re.escape(name)}\]: https://", CHANGES, re.M), name


def released(folder: Path) -> Path:
    """A tree of version 1.2.3."""
    (folder / "scrapy_neardup").mkdir()
    (folder / "scrapy_neardup" / "__init__.py").write_text('__version__ = "1.2.3"\n', "utf-8")
    (folder / "CHANGES.md").write_text("# Changes\n\n## [1.2.3] - 2026-11-30\n", "utf-8")
    (folder / "CITATION.cff").write_text("date-released: 2026-11-30\n", "utf-8")
    return folder


def test_a_tag_has_to_name_the_version_with_its_changes_and_its_day(tmp_path):
    tree = released(tmp_path)
    check_tag(tree, "v1.2.3")
    with pytest.raises(ReleaseError, match=r"the tag is v1\.2\.4, but __version__ is 1\.2\.3"):
        check_tag(tree, "v1.2.4")
    (tree / "CITATION.cff").write_text("date-released: 2026-11-29\n", "utf-8")
    with pytest.raises(ReleaseError, match="does not say 'date-released: 2026-11-30'"):
        check_tag(tree, "v1.2.3")
    (tree / "CHANGES.md").write_text("# Changes\n\n## [Unreleased]\n", "utf-8")
    with pytest.raises(ReleaseError, match=r"has no heading '## \[1\.2\.3\] - YYYY-MM-DD'"):
        check_tag(tree, "v1.2.3")


def test_the_recipe_for_conda_forge_differs_in_its_source_only(tmp_path):
    sdist = tmp_path / "scrapy_neardup-0.1.0.tar.gz"
    sdist.write_bytes(b"abc")
    published = yaml.safe_load(
        published_recipe((ROOT / "conda" / "recipe.yaml").read_text("utf-8"), sdist)
    )
    source = published.pop("source")
    # the example of FIPS 180-2
    assert source["sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert source["url"].startswith("https://pypi.org/")
    local = loaded("conda/recipe.yaml")
    assert local.pop("source") == {"path": ".."}
    assert published == local
