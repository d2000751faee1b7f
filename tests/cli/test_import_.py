"""`modelway import`."""

import shlex

from tests.support.blocks import block
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
    assert "1 model, 1 upstream, 1 part not imported" in result.stdout
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


SHOP = """\
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: https://shop.test/v1}]
paths:
  /orders: {get: {operationId: list, tags: [orders], responses: {"200": {description: ok}}}}
  /users: {get: {operationId: users, responses: {"200": {description: ok}}}}
"""


def test_an_api_becomes_a_project_that_passes_check(folder):
    (folder / "shop.yaml").write_text(SHOP)
    result = modelway("import", "openapi", "shop.yaml", "--upstream", "https://a.test", "-o", "new")
    assert result.exit_code == 0, result.output
    assert (
        "2 operations of 'shop' go to https://a.test/v1\n\n  cd new\n  modelway token new"
        in result.stdout
    )
    checked = modelway("check", "new/gateway.yaml", "--strict")
    assert checked.exit_code == 0, checked.output
    assert "schemas/gateway.schema.json" in (folder / "new" / "gateway.yaml").read_text()
    assert (folder / "new" / "schemas" / "gateway.schema.json").exists()


def test_an_api_is_added_to_a_project_beside_what_is_there(folder):
    (folder / "shop.yaml").write_text(SHOP)
    modelway("import", "openapi", "shop.yaml", "-o", "it")
    config = folder / "it" / "gateway.yaml"
    config.write_text(config.read_text() + "tokens: []  # mine\n")
    arguments = ("import", "openapi", "shop.yaml", "--tag", "orders", "-o", "it")
    result = modelway(*arguments, "--name", "again")
    assert "1 operation of 'again' under /again/v1 go to" in result.stdout, result.output
    assert modelway("check", str(config)).exit_code == 0
    assert config.read_text().endswith("tokens: []  # mine\n")
    before = config.read_text()
    again = modelway(*arguments, "--name", "again")
    assert again.exit_code == 1
    assert "specs has 'again' already: give another --name" in again.stderr
    assert config.read_text() == before


def test_an_api_without_a_folder_is_printed(folder):
    (folder / "shop.yaml").write_text(SHOP)
    result = modelway("import", "openapi", "shop.yaml", "--path", "/users")
    assert "specs:\n  shop: {document: shop.yaml}\n" in result.stdout
    assert "  - {operations: [shop.users], to: [{upstream: shop}]}\n" in result.stdout


def test_a_document_that_cannot_be_read_imports_nothing(folder):
    (folder / "shop.yaml").write_text("hello: 1\n")
    result = modelway("import", "openapi", "shop.yaml", "-o", "new")
    assert result.exit_code == 1
    assert "shop.yaml:1:1: error:" in result.stderr
    assert not (folder / "new").exists()


def test_a_filter_without_an_operation_imports_nothing(folder):
    (folder / "shop.yaml").write_text(SHOP)
    result = modelway("import", "openapi", "shop.yaml", "--tag", "order", "-o", "new")
    assert result.exit_code == 1
    assert "the tag 'order': did you mean 'orders'?" in result.stderr
    assert not (folder / "new").exists()


def test_options_of_a_document_are_refused_for_a_config(folder):
    (folder / "config.yaml").write_text(SOURCE)
    result = modelway("import", "litellm", "config.yaml", "--tag", "x")
    assert result.exit_code == 2
    assert "are for `openapi`" in result.stderr


def test_the_command_of_the_page_makes_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(SHOP)
    command = block("docs/reference/import.md", "modelway import openapi").text
    result = modelway(*shlex.split(command)[1:])
    assert "1 operation of 'shop' go to https://shop.internal/v1" in result.stdout, result.output
    assert modelway("check").exit_code == 0


def test_the_next_steps_leave_out_what_is_there(folder):
    (folder / "shop.yaml").write_text(SHOP)
    (folder / "gateway.yaml").unlink()
    result = modelway("import", "openapi", "shop.yaml", "-o", ".")
    assert "cd ." not in result.stdout
    assert "  modelway token new alice" in result.stdout
    assert result.stdout.endswith("  modelway check\n  modelway serve\n")
    config = folder / "gateway.yaml"
    entry = modelway("token", "new", "alice").stdout.splitlines()[-1]
    config.write_text(f"{config.read_text()}\ntokens:\n{entry}\n")
    again = modelway("import", "openapi", "shop.yaml", "-o", ".", "--name", "again")
    assert again.exit_code == 0, again.output
    assert "token new" not in again.stdout
