"""README.md of a distribution has no link that leads nowhere on a package index."""

import re

import pytest

from tests.support.paths import ROOT
from tools.release.readme import index_readme, readme_for_index, repository_of

TEXT = "[Start](docs/start.md) · [a](https://x.test/a) · [b](#b) · [the\nimage](docs/i.md#run)\n"


def test_links_lead_to_the_repository_at_the_tag():
    assert readme_for_index(TEXT, "https://git.test/a/modelway/", "0.2.0") == (
        "[Start](https://git.test/a/modelway/blob/v0.2.0/docs/start.md) · [a](https://x.test/a) · "
        "[b](#b) · [the\nimage](https://git.test/a/modelway/blob/v0.2.0/docs/i.md#run)\n"
    )


def test_without_a_repository_links_are_names_of_files():
    assert readme_for_index(TEXT, None, "0.2.0") == (
        "Start (`docs/start.md`) · [a](https://x.test/a) · [b](#b) · the\nimage (`docs/i.md#run`)\n"
    )


@pytest.mark.parametrize("repository", ["https://git.test/a/modelway", None])
def test_readme_of_this_repository_has_no_relative_link(repository):
    text = readme_for_index((ROOT / "README.md").read_text("utf-8"), repository, "0.2.0")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_file_is_as_before_after_a_build_that_fails(tmp_path):
    (tmp_path / "README.md").write_text(TEXT)
    address = 'urls.Repository = "https://git.test/m"\n'
    (tmp_path / "pyproject.toml").write_text(f"[project]\n{address}")
    assert repository_of(tmp_path) == "https://git.test/m"

    def build():
        with index_readme(tmp_path, "0.2.0"):
            assert "https://git.test/m/blob/v0.2.0/" in (tmp_path / "README.md").read_text()
            raise ValueError("no compiler")

    with pytest.raises(ValueError, match="no compiler"):
        build()
    assert (tmp_path / "README.md").read_text() == TEXT
