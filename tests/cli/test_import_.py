"""`modelway import`."""

from tests.support.commands import assert_refused, modelway

SOURCE = """\
model_list:
  - {model_name: gpt-4o, litellm_params: {model: gpt-4o}}
litellm_settings: {cache: true}
"""


def test_a_project_passes_check(folder):
    (folder / "config.yaml").write_text(SOURCE)
    result = modelway("import", "litellm", "config.yaml", "-o", "project")
    assert result.exit_code == 0, result.output
    assert "1 models, 1 upstreams, 1 parts not imported" in result.stdout
    assert "export OPENAI_API_KEY=..." in result.stdout
    reason = "not imported: cache: responses are not cached"
    assert result.stderr == f"config.yaml:3:20: {reason}\n"
    checked = modelway("check", "project/gateway.yaml", env={"OPENAI_API_KEY": "x"})
    assert checked.exit_code == 0, checked.output


def test_without_a_folder_the_config_is_printed(folder):
    (folder / "config.yaml").write_text(SOURCE)
    result = modelway("import", "litellm", "config.yaml")
    assert "gpt-4o: {to: [{upstream: openai}]}  # config.yaml:2" in result.stdout
    assert "config.yaml:3:20" in result.stdout


def test_an_existing_project_is_left_alone(folder):
    (folder / "config.yaml").write_text(SOURCE)
    result = modelway("import", "litellm", "config.yaml", "-o", ".")
    assert_refused(result, "gateway.yaml already exists; nothing was written", "not imported")


def test_a_file_that_cannot_be_read(folder):
    (folder / "config.yaml").write_text("a: [\n")
    assert_refused(modelway("import", "litellm", "config.yaml"), "config.yaml:2:1: error: not YAML")
    assert_refused(modelway("import", "litellm", "missing.yaml"), "cannot be read")
    (folder / "list.yaml").write_text("- a\n")
    assert_refused(modelway("import", "litellm", "list.yaml"), "not a mapping of sections")


def test_an_unknown_source_names_those_there_are(folder):
    result = modelway("import", "nginx", "config.yaml")
    assert_refused(result, "litellm", status=2)
