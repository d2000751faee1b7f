"""The fragments of changes/ become a section of CHANGELOG.md."""

from datetime import date

import pytest

from tools.release.changelog import gather, items, words

DAY = date(2026, 12, 1)
HEAD = "# Changelog\n\nChanges since the last release are in `changes/`, one file each.\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(HEAD + "\n## 0.1.0 (2026-01-02)\n\n- First.\n")
    for subject in ("incompatible", "limits", "serving"):
        (tmp_path / "changes" / subject).mkdir(parents=True)
    (tmp_path / "changes" / "incompatible" / "z.md").write_text("Another port.\n")
    (tmp_path / "changes" / "limits" / "b.md").write_text("Second,\nlonger.\n")
    (tmp_path / "changes" / "limits" / "a.md").write_text(
        "- One.\n- Two,\n  of two lines.\n\nThree.\n"
    )
    (tmp_path / "changes" / "serving" / "c.md").write_text("Faster.\n")
    (tmp_path / "changes" / "d.md").write_text("Of no subject.\n")
    return tmp_path


def test_fragments_move_into_the_changelog_by_subject(root):
    assert gather(root, "0.2.0", DAY) == (5, 27)
    assert (
        (root / "CHANGELOG.md").read_text()
        == HEAD
        + """
## 0.2.0 (2026-12-01)

### Incompatible changes

- Another port.

### Tokens, limits and the ledger

- One.
- Two,
  of two lines.
- Three.
- Second,
  longer.

### Serving requests

- Faster.

### Other changes

- Of no subject.

## 0.1.0 (2026-01-02)

- First.
"""
    )
    assert list((root / "changes").rglob("*.md")) == []


def test_a_fragment_has_a_subject(root):
    (root / "changes" / "misc").mkdir()
    (root / "changes" / "misc" / "x.md").write_text("X.\n")
    with pytest.raises(
        ValueError, match=r"changes/misc/ is no subject: use incompatible, .*t, or changes/"
    ):
        gather(root, "0.2.0", DAY)
    assert (root / "changes" / "misc" / "x.md").exists()


def test_a_version_is_released_once(root):
    with pytest.raises(ValueError, match=r"has 0\.1\.0 already"):
        gather(root, "0.1.0", DAY)


def test_a_release_has_changes(root):
    gather(root, "0.2.0", DAY)
    with pytest.raises(ValueError, match="nothing to release"):
        gather(root, "0.3.0", DAY)


def test_a_list_keeps_its_items():
    assert list(items("A b,\nc.\n- d\n")) == ["- A b,\n  c.", "- d"]


def test_words_are_those_that_a_reader_sees():
    assert words("## 0.2.0 (2026-12-01)\n\n- [A b](docs/a.md) `c: d`,\n  e.\n") == 7
