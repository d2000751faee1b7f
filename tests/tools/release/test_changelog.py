"""The fragments of changes/ become a section of CHANGELOG.md."""

from datetime import date

import pytest

from tools.release.changelog import gather, items

DAY = date(2026, 12, 1)
HEAD = "# Changelog\n\nChanges since the last release are in `changes/`, one file each.\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(HEAD + "\n## 0.1.0 (2026-01-02)\n\n- First.\n")
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "b.md").write_text("Second,\nlonger.\n")
    (tmp_path / "changes" / "a.md").write_text("- One.\n- Two,\n  of two lines.\n\nThree.\n")
    return tmp_path


def test_fragments_move_into_the_changelog(root):
    assert gather(root, "0.2.0", DAY) == 2
    text = (root / "CHANGELOG.md").read_text()
    section = "- One.\n- Two,\n  of two lines.\n- Three.\n- Second,\n  longer.\n"
    assert (
        text
        == HEAD + "\n## 0.2.0 (2026-12-01)\n\n" + section + "\n## 0.1.0 (2026-01-02)\n\n- First.\n"
    )
    assert list((root / "changes").iterdir()) == []


def test_a_version_is_released_once(root):
    with pytest.raises(ValueError, match=r"has 0\.1\.0 already"):
        gather(root, "0.1.0", DAY)


def test_a_release_has_changes(root):
    gather(root, "0.2.0", DAY)
    with pytest.raises(ValueError, match="nothing to release"):
        gather(root, "0.3.0", DAY)


def test_a_list_keeps_its_items():
    assert list(items("A b,\nc.\n- d\n")) == ["- A b,\n  c.", "- d"]
