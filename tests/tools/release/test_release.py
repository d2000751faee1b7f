"""A release changes the files of a copy of this repository."""

import re
import shutil

import pytest
from click.testing import CliRunner

from tests.support.paths import ROOT
from tools.release.__main__ import copy_of_repository, main
from tools.release.version import PLACES

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="a release needs git"
)


@pytest.fixture(autouse=True)
def fragment(monkeypatch):
    """One more fragment in the copy: after a release the repository has none."""

    def copy_with_fragment(folder):
        copy = copy_of_repository(folder)
        (copy / "changes" / "overview").mkdir(parents=True, exist_ok=True)
        (copy / "changes" / "overview" / "added.md").write_text("Added for a test.\n")
        return copy

    monkeypatch.setattr("tools.release.__main__.copy_of_repository", copy_with_fragment)


def test_a_release_of_a_copy(tmp_path):
    copy = tmp_path / "copy"
    fragments = sorted(file.name for file in (ROOT / "changes").rglob("*.md"))
    result = CliRunner().invoke(main, ["99.0.0", "--copy", str(copy), "--only-files"])
    assert result.exit_code == 0, result.output
    assert re.match(rf"{len(fragments) + 1} fragments in CHANGELOG.md; 99.0.0 in", result.output)
    for name in PLACES:
        if (ROOT / name).exists():
            assert "99.0.0" in (copy / name).read_text("utf-8"), name
    assert "\n## 99.0.0 (" in (copy / "CHANGELOG.md").read_text("utf-8")
    assert list((copy / "changes").rglob("*.md")) == []
    assert sorted(file.name for file in (ROOT / "changes").rglob("*.md")) == fragments


def test_a_section_of_more_than_a_page_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.release.__main__.MAX_WORDS", 3)
    result = CliRunner().invoke(main, ["99.0.0", "--copy", str(tmp_path / "c"), "--only-files"])
    assert result.exit_code == 0, result.output
    assert re.search(r"the section has \d+ words, more than the 3 of a page: merge", result.output)


def test_a_wrong_version_is_an_error_of_one_line(tmp_path):
    result = CliRunner().invoke(main, ["two", "--copy", str(tmp_path / "copy"), "--only-files"])
    assert (result.exit_code, result.output.splitlines()[-1]) == (
        1,
        "Error: 'two' is no version: write 0.2.0 or 0.2.0rc1",
    )
