"""`modelway providers update`: the difference first, the file on demand."""

import json

import pytest

from tests.support.commands import modelway

MODEL = "llama-3.3-70b-versatile"
NEWER = (
    f"groq: {{date: 2030-01-31, models: {{{MODEL}: {{price: {{input: 1.18, output: 0.79}}}}}}}}\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MODELWAY_CONFIG", raising=False)
    (tmp_path / "gateway.yaml").write_text("version: 1\nproviders: {catalog: mine.yaml}\n")
    (tmp_path / "newer.yaml").write_text(NEWER)
    return tmp_path


def test_the_difference_is_shown_and_nothing_is_written(folder):
    result = modelway("providers", "update", "newer.yaml")
    assert (result.exit_code, result.stdout) == (
        3,
        f"groq: 2026-07-02 -> 2030-01-31\n  {MODEL}, input: 0.59 -> 1.18 (+100%)\n",
    )
    assert not (folder / "mine.yaml").exists()


def test_a_name_does_not_control_the_terminal(folder):
    evil = r'"x\e]0;title\a": {price: {input: 1}}'
    (folder / "newer.yaml").write_text(f"groq: {{date: 2030-01-31, models: {{{evil}}}}}\n")
    result = modelway("providers", "update", "newer.yaml")
    assert result.stdout.splitlines()[1] == "  x␛]0;title␇: added, input 1"


def test_what_was_written_does_not_differ_any_more(folder):
    assert modelway("providers", "update", "newer.yaml", "--write").exit_code == 0
    again = modelway("providers", "update", "newer.yaml")
    assert (again.exit_code, again.stdout) == (0, "nothing changes\n")
    assert (
        f"    {MODEL}: {{price: {{input: 1.18, output: 0.79}}}}\n"
        in (folder / "mine.yaml").read_text()
    )


def test_the_catalog_of_the_config_keeps_its_other_models(folder):
    (folder / "mine.yaml").write_text("groq: {date: 2030-01-01, models: {own: {context: 9}}}\n")
    assert modelway("providers", "update", "newer.yaml", "--write").exit_code == 0
    text = (folder / "mine.yaml").read_text()
    assert "own: {context: 9}" in text
    assert "date: '2030-01-31'" in text


def test_the_difference_as_json(folder):
    result = modelway("providers", "update", "newer.yaml", "--format", "json")
    (provider,) = json.loads(result.stdout)["providers"]
    assert (provider["name"], provider["changes"][0]["percent"]) == ("groq", 100.0)


def test_a_catalog_of_all_shipped_facts_changes_nothing(folder):
    shipped = modelway("providers", "--format", "catalog").stdout
    (folder / "newer.yaml").write_text(shipped)
    result = modelway("providers", "update", "newer.yaml")
    assert (result.exit_code, result.stdout) == (0, "nothing changes\n")


def test_errors_are_shown_where_they_are_and_nothing_is_written(folder):
    (folder / "newer.yaml").write_text("groq: {date: 2030-01-31, models: {a: {contexts: 1}}}\n")
    result = modelway("providers", "update", "newer.yaml", "--write")
    assert result.exit_code == 1
    assert "newer.yaml:1:" in result.stderr
    assert not (folder / "mine.yaml").exists()


def test_without_a_catalog_in_the_config_nothing_can_be_written(folder):
    (folder / "gateway.yaml").write_text("version: 1\n")
    result = modelway("providers", "update", "newer.yaml", "--write")
    assert result.exit_code == 1
    assert "write `providers: {catalog: catalog.yaml}` into gateway.yaml" in result.stderr
