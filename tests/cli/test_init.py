"""`modelway init`: a project without problems, and nothing overwritten."""

import json

import pytest

from engine.source import files
from tests.support.commands import modelway


def test_init_writes_a_project_without_problems(folder):
    result = modelway("init", "new/project")
    assert result.exit_code == 0
    project = folder / "new/project"
    names = {"gateway.yaml", "objects.yaml", "openapi", "schemas"}
    assert {p.name for p in project.iterdir()} == names
    assert (project / "gateway.yaml").read_bytes() == files.CONFIG.read_bytes()
    assert modelway("check", "-q", "-c", str(project / "gateway.yaml")).exit_code == 0


@pytest.mark.parametrize("there", ["gateway.yaml", "openapi", "schemas"])
def test_init_overwrites_nothing(folder, there):
    (folder / "p").mkdir()
    (folder / "p" / there).mkdir()
    result = modelway("init", "p")
    assert result.exit_code == 1
    assert "nothing was written" in result.output
    assert [p.name for p in (folder / "p").iterdir()] == [there]


def test_init_into_a_file_is_wrong_usage(folder):
    assert modelway("init", "gateway.yaml").exit_code == 2


def test_init_serves_the_models_of_providers(folder):
    result = modelway("init", "p", "--provider", "groq", "--provider", "ollama")
    assert result.exit_code == 0
    assert "export GROQ_API_KEY=" in result.output
    text = (folder / "p/gateway.yaml").read_text("utf-8")
    assert '"groq/*": {to: [{upstream: groq, model: "*"}]}' in text
    assert modelway("check", "-q", "-c", str(folder / "p/gateway.yaml")).exit_code == 0


def test_init_for_an_unknown_provider_writes_nothing(folder):
    result = modelway("init", "p", "--provider", "grok")
    assert result.exit_code == 2
    assert "did you mean 'groq'?" in result.output
    assert not (folder / "p").exists()


@pytest.mark.parametrize(
    ("options", "warnings"),
    [([], set()), (["--provider", "groq"], {"MW415"}), (["--provider", "openai"], {"MW415"})],
)
def test_a_new_project_with_a_token_warns_only_of_a_missing_key(folder, options, warnings):
    modelway("init", "p", *options)
    file = folder / "p/gateway.yaml"
    entry = modelway("token", "new", "alice").stdout.splitlines()[-1]
    file.write_text(f"{file.read_text('utf-8').rstrip()}\n{entry}\n", "utf-8")
    problems = json.loads(modelway("check", "-c", str(file), "--json").stdout)["problems"]
    codes = {problem["code"] for problem in problems if problem["level"] != "info"}
    assert codes == warnings
    assert "MW415" in {problem["code"] for problem in problems}


def test_the_next_steps_can_be_typed_where_they_are_printed(empty_folder):
    assert "  cd " not in modelway("init", ".").output
    assert "  cd 'my gateway'\n" in modelway("init", "my gateway").output
    steps = modelway("init", "p", "--provider", "ollama").output
    assert "export" not in steps  # it needs no key
