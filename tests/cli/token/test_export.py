"""`modelway token export`: what `import` reads."""

import json

import pytest

from tests.support.commands import modelway

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_exported_tokens_can_be_imported(on, tmp_path):
    secret = on("create", "--name", "a", "--models", "x", "--budget", "20 USD/30d").stdout.strip()
    on("rotate", "a")
    on("create", "--name", "b", "--note", "b's")
    on("revoke", "b")
    lines = on("export").stdout
    assert secret not in lines
    (tmp_path / "all.jsonl").write_text(lines)
    other = ["--database", f"sqlite:///{tmp_path}/other.db"]
    taken_in = modelway("token", "import", "all.jsonl", *other)
    assert (taken_in.exit_code, taken_in.stderr) == (0, "2 tokens imported.\n")
    assert modelway("token", "export", *other).stdout == lines
    assert [json.loads(line)["name"] for line in lines.splitlines()] == ["a", "b"]
