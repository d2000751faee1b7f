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


def test_an_import_of_nothing_fails_and_gives_the_reason(folder):
    (folder / "kong.yaml").write_text('services: [{name: a, url: "http://a.test"}]\n')
    result = modelway("import", "kong", "kong.yaml", "-o", "project")
    assert result.exit_code == 1
    assert "kong.yaml:1:12: not imported: service a" in result.stderr
    assert "Error: nothing of kong.yaml is imported: see above" in result.stderr
    assert not (folder / "project").exists()


def test_a_file_of_another_program_imports_nothing(folder):
    (folder / "other.yaml").write_text("_format_version: '3.0'\n")
    result = modelway("import", "kong", "other.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "it has no section of Kong's declarative config" in result.stderr
