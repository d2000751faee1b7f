"""The list of licences has every dependency, each with its licence."""

import re
import tomllib
from email.message import Message

import pytest

from tests.support.paths import ROOT
from tools.dependencies import EXTRAS
from tools.licences import licence, page

LISTED = (ROOT / "docs/reference/licences.md").read_text("utf-8")


def names(text):
    rows = re.findall(r"(?m)^\| ([\w.-]+) \| (.+) \|$", text)
    return {re.sub(r"[-_.]+", "-", name).lower() for name, stated in rows if stated.strip()}


@pytest.mark.parametrize("text", [LISTED, page()], ids=["as written", "as installed"])
def test_every_dependency_has_a_licence(text):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = [entry for extra in EXTRAS for entry in project["optional-dependencies"][extra]]
    declared = {re.match(r"[\w.-]+", entry)[0] for entry in (*project["dependencies"], *optional)}
    normalized = {re.sub(r"[-_.]+", "-", name).lower() for name in declared}
    assert normalized - names(text) == set()
    assert re.findall(r"(?m)^\| [\w.-]+ \|\s*\|$", text) == []


def test_everything_in_the_image_is_listed():
    lock = (ROOT / "deploy/locks/requirements.lock").read_text("utf-8")
    assert set(re.findall(r"(?m)^([a-z0-9-]+)==", lock)) - names(LISTED) == set()


class Installed:
    def __init__(self, **facts):
        self.metadata = Message()
        for name, value in facts.items():
            self.metadata[name.replace("_", "-")] = value


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"License_Expression": "MIT", "License": "other"}, "MIT"),
        ({"License": "BSD-3-Clause"}, "BSD-3-Clause"),
        (
            {"License": "x" * 999, "Classifier": "License :: OSI Approved :: MIT License"},
            "MIT License",
        ),
        (
            {"License": "Dual License", "Classifier": "License :: OSI Approved :: BSD License"},
            "BSD License",
        ),
        ({}, ""),
    ],
)
def test_the_name_of_a_licence(facts, expected):
    assert licence(Installed(**facts)) == expected
