"""The pages of docs/how-to pass `modelway check`, and their commands print what they show."""

import re
import tomllib

import pytest

from tests.support.commands import modelway
from tests.support.how_to import Command, Page
from tests.support.paths import ROOT

LIST = ROOT / "docs/how-to/index.md"
PLUGIN = ROOT / "docs/how-to/plugin.md"
"""tests/e2e/test_plugins.py installs its distribution, and checks and serves its config."""
VALUES = {
    "CONSOLE_KEY": "0123456789abcdef" * 4,
    "OBJECT_KEY": "0123456789abcdef" * 4,
    "WEBHOOK_SECRET": "whsec_" + "a2V5" * 8,
}
"""Values of variables that must have a form."""

PAGES = sorted(file for file in LIST.parent.glob("*.md") if file not in (LIST, PLUGIN))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "openapi").symlink_to(ROOT / "openapi")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_page(file, folder, monkeypatch):
    page = Page.read(file.read_text("utf-8"))
    assert "gateway.yaml" in page.files, 'mark the config: ```yaml title="gateway.yaml"'
    page.write(folder)
    for variable in page.variables:
        monkeypatch.setenv(variable, VALUES.get(variable, "example"))
    checked = modelway("check")
    assert checked.exit_code == 0, checked.output
    for command in page.commands:
        assert command.words[0] == "modelway", "only commands of modelway can be tried here"
        output = modelway(*command.words[1:]).output
        assert command.prints(output), f"{' '.join(command.words)} prints:\n{output}"


def test_the_list_has_the_groups_of_the_navigation():
    """test_site.py requires every page there."""
    nav = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    _, *groups = next(entry["How-to"] for entry in nav if "How-to" in entry)
    expected = [entry for group in groups for entry in group.items()]
    sections = LIST.read_text("utf-8").split("\n## ")[1:]
    found = [
        (
            section.partition("\n")[0],
            [f"how-to/{name}" for name in re.findall(r"\((.+?)\)", section)],
        )
        for section in sections
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (["a", "b"], "a\nb\n", True),
        (["a"], "a\nb\n", False),
        (["..."], "a\nb\n", True),
        (["...", "b"], "a\nb\n", True),
        (["a", "...", "c"], "a\nb\nb\nc\n", True),
        (["a", "...", "c"], "a\nb\n", False),
        ([], "", True),
    ],
)
def test_output_of_a_command(output, text, expected):
    assert Command([], output).prints(text) is expected


def test_files_and_commands_of_a_page():
    text = (
        'Words.\n```yaml title="a/b.yaml"\nx: ${Y}\n```\n'
        "```console\n$ modelway check -c 'a b'\nfine\n```\n"
    )
    page = Page.read(text)
    assert page.files == {"a/b.yaml": "x: ${Y}\n"}
    assert page.commands == [Command(["modelway", "check", "-c", "a b"], ["fine"])]
    assert page.variables == {"Y"}
