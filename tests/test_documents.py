"""The files that README, CONTRIBUTING, the pages of docs/ and fragments of changes/ name exist, and
other readers of YAML understand those that are shipped."""

import re

import pytest

from tests.support.paths import ROOT

NO_FILES = {"server/discover", "upstream/model"}  # a method of MCP, the name of a price
PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))
FRAGMENTS = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "changes").rglob("*.md"))
TEXTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", *PAGES, *FRAGMENTS)
"""Without CHANGELOG.md, which names files of its time."""
YAML = sorted(
    path for folder in ("openapi", "examples", "deploy") for path in (ROOT / folder).rglob("*.yaml")
)
QUESTION = re.compile(r"""[{\[,]\s*(?:[\w-]+: )?[^"'{}\[\],\s][^"'{}\[\],]*\?[,}\]]""")
FOLDERS = {path.name for base in (ROOT, ROOT / "engine") for path in base.iterdir()}
PATH = re.compile(r"(?<=`)[\w.*<>-]+/[\w./*<>-]*(?=[`:])|(?<=\]\()[\w./-]+(?=\))")


def named_files(text):
    """Paths in code spans that begin with a folder of the repository or of `engine/`, and links."""
    content = (ROOT / text).read_text("utf-8")
    for match in PATH.finditer(content):
        path = match[0]
        is_link = content[match.start() - 1] == "("
        if is_link or (path.partition("/")[0] in FOLDERS and path not in NO_FILES):
            yield is_link, path


def exists(text, is_link, path):
    pattern = re.sub(r"<\w+>|nnn", "*", path).rstrip("/")
    if pattern == "changes/*/*.md":  # there are none after a release
        return True
    home = ROOT if text in FRAGMENTS else (ROOT / text).parent  # fragments move to CHANGELOG.md
    bases = [home] if is_link else [ROOT, ROOT / "engine"]
    return any(next(base.glob(pattern), None) for base in bases)


@pytest.mark.parametrize("text", TEXTS)
def test_named_files_exist(text):
    assert [path for is_link, path in named_files(text) if not exists(text, is_link, path)] == []


def test_missing_files_are_found():
    assert "engine/console/pages.py" in [
        path for _, path in named_files("docs/internals/console.md")
    ]
    assert not exists("docs/internals/console.md", False, "engine/console/no_such_file.py")
    assert not exists("README.md", True, "docs/no_such_file.md")


@pytest.mark.parametrize("file", YAML, ids=lambda file: str(file.relative_to(ROOT)))
def test_texts_in_braces_that_end_with_a_question_mark_have_quotes(file):
    """PyYAML's parser in Python, which tools of others use, takes the mark for a key (YAML 1.2.2
    7.3.3 allows it)."""
    lines = file.read_text("utf-8").splitlines()
    assert [
        line for line in lines if not line.lstrip().startswith("#") and QUESTION.search(line)
    ] == []
