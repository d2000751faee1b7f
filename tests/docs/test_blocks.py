"""Every block of code of every page is run, or it is listed here what runs it instead.

Files and commands of how-to pages are run by test_how_to.py, those of the tutorial by
tests/e2e/test_tutorial.py, pieces of gateway.yaml are judged by tests/config/test_editor.py.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import psycopg
import pytest

from engine.cli.schema import OVERLAY_FILE
from engine.config.joined_document import APPEND, PREPEND, REMOVE, REPLACE
from tests.support import yaml_text
from tests.support.blocks import Block, block, blocks, blocks_of
from tests.support.paths import ROOT
from tests.support.pgbouncer import BINARY as PGBOUNCER
from tests.support.pgbouncer import pgbouncer
from tests.support.ports import free_port
from tests.support.postgres import binaries
from tests.support.redis_server import BINARY as REDIS
from tests.support.redis_server import command

_TO_GATEWAY = """\
export OPENAI_API_BASE=http://127.0.0.1:8080/v1
export OPENAI_API_KEY=$MODELWAY_TOKEN
"""
_OBJECTS = 'objects:\n  key: "${OBJECT_KEY}"\n'
ELSEWHERE = {
    ("docs/how-to/agents.md", "export MODELWAY_TOKEN"): "tests/e2e/test_connect.py",
    ("docs/how-to/agents.md", "export ANTHROPIC_BASE_URL"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "codex"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "export GOOGLE_GEMINI"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "opencode"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "export OPENAI_BASE_URL"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "export COPILOT"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "export KIMI"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "cline auth"): "tests/e2e/test_agents_page.py",
    (
        "docs/how-to/agents.md",
        _TO_GATEWAY + "export MSWEA",
    ): "tests/e2e/test_agents_page.py",
    (
        "docs/how-to/agents.md",
        _TO_GATEWAY + "export AIDER",
    ): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "cn --config"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/batches.md", "prices:"): "tests/e2e/test_batches.py",
    ("docs/how-to/batches.md", "The batch was not"): "tests/objects/batches/test_batch_requests.py",
    ("docs/how-to/agents.md", "objects: {key"): "tests/e2e/test_compaction.py",
    (
        "docs/reference/translation.md",
        "The conversation above",
    ): "tests/translations/responses/test_compaction.py",
    ("docs/how-to/guard.md", '{"id"'): "tests/guardrails/test_contract.py",
    ("docs/how-to/guard.md", '{"action"'): "tests/guardrails/test_contract.py",
    ("docs/how-to/objects.md", "objects: {key: ["): "tests/e2e/test_objects.py",
    ("docs/how-to/objects.md", "routes:"): "tests/e2e/test_stored_responses.py",
    ("docs/how-to/objects.md", f"{_OBJECTS}  responses:"): "tests/e2e/test_stored_responses.py",
    ("docs/how-to/objects.md", f"{_OBJECTS}  files:"): "tests/e2e/test_file_copies.py",
    ("docs/reference/ledger.md", "specs:"): "tests/e2e/test_usage_answer.py",
    ("docs/reference/ledger.md", "modelway usage --rows"): "tests/cli/usage/test_export_table.py",
    ("docs/reference/ledger.md", "groq:"): "tests/config/test_catalog_updates.py",
    ("docs/reference/ledger.md", "$ curl"): "tests/e2e/test_usage_answer.py",
    ("docs/how-to/warnings.md", "{\n"): "tests/callers/limits/test_limit_warnings_event.py",
    ("docs/how-to/tools.md", "upstreams:"): "tests/e2e/test_mcp_servers.py",
    ("docs/how-to/tools.md", "mcp:"): "tests/app/test_model_tools.py",
    ("docs/how-to/objects.md", "specs:"): "tests/plan/checks/test_objects.py",
    ("docs/how-to/tools.md", "$ modelway tools pin"): "tests/cli/tools/test_pin.py",
    ("docs/reference/ledger.md", "$ modelway usage --by session"): "tests/cli/usage/test_usage.py",
    ("docs/reference/operations.md", "curl https"): "tests/e2e/test_client_secrets.py",
    ("docs/reference/operations.md", '{"value": "ek_'): "tests/e2e/test_client_secrets.py",
    ("docs/reference/responses-websocket.md", "routes:"): "tests/e2e/test_responses_websocket.py",
    (
        "docs/reference/responses-websocket.md",
        "upstreams:",
    ): "tests/upstream/websockets/test_responses_socket.py",
    ("docs/how-to/agents.md", "import os"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "import Anthropic"): "tests/e2e/test_agents_page.py",
    ("docs/how-to/agents.md", "import { createOpenAI }"): "tests/e2e/test_agents_page.py",
    ("README.md", "python3 -m venv"): "trials/empty_machine/__main__.py",
    ("README.md", "from openai"): "tests/e2e/test_commands.py",
    ("README.md", "modelway init"): "tests/e2e/test_pages.py",
    ("docs/start.md", "uv tool"): "trials/empty_machine/__main__.py",
    ("docs/start.md", "modelway demo"): "trials/empty_machine/demo.py",
    ("docs/start.md", "modelway init"): "tests/e2e/test_pages.py",
    ("docs/start.md", "export OPENAI_API_KEY"): "tests/e2e/test_pages.py",
    ("docs/how-to/containers.md", "buildah"): "trials/image/built.py",
    ("docs/how-to/containers.md", "podman"): "trials/image/runs.py",
    ("docs/how-to/containers.md", "OPENAI"): "trials/empty_machine/docker.py",
    ("docs/how-to/kubernetes.md", "kubectl create secret generic up"): "tests/deploy/test_chart.py",
    ("docs/how-to/kubernetes.md", "kubectl create secret generic re"): (
        "trials/cluster/releases.py"
    ),
    ("docs/how-to/kubernetes.md", "kubectl apply"): "trials/cluster/releases.py",
    ("docs/how-to/rolling-restart.md", "modelway reload"): "tests/e2e/test_pages.py",
    ("docs/how-to/ci.md", "modelway schema"): "tests/e2e/test_pages.py",
    ("docs/how-to/ci.md", 'eval "'): "tests/e2e/test_pages.py",
    ("docs/how-to/systemd.md", "useradd"): "trials/empty_machine/units.py",
    ("docs/how-to/rolling-restart.md", "install"): "trials/empty_machine/units.py",
    ("docs/how-to/rolling-restart.md", "systemctl enable"): "trials/empty_machine/units.py",
    ("docs/how-to/rolling-restart.md", "systemctl disable"): "trials/empty_machine/units.py",
    (
        "docs/reference/counters.md",
        "ACL SETUSER gateway on >PASSWORD resetkeys",
    ): "tests/stores/counters/redis/test_connection.py",
    (
        "docs/reference/counters.md",
        "ACL SETUSER gateway on >PASSWORD resetchannels",
    ): "tests/stores/counters/redis/test_counters_tls.py",
    ("docs/reference/gunicorn.md", "MODELWAY_CONFIG"): "tests/e2e/test_pages.py",
    ("docs/reference/mock.md", "modelway mock"): "tests/e2e/test_pages.py",
    ("docs/reference/import.md", "modelway import openapi"): "tests/cli/test_import_.py",
    ("docs/reference/tests.md", "modelway explain"): "tests/e2e/test_pages.py",
    ("docs/reference/tests.md", "git show"): "tests/e2e/test_pages.py",
    ("docs/reference/tokens.md", "modelway token"): "tests/e2e/test_pages.py",
    ("docs/how-to/monthly-budget.md", "modelway usage"): "tests/e2e/test_pages.py",
    ("docs/explanation/releases.md", "tox"): "tools/release/__main__.py",
    (
        "docs/explanation/guarantees.md",
        "python -m trials.fleet",
    ): "trials/fleet/__main__.py",
    (
        "docs/explanation/guarantees.md",
        "python -m trials.empty_machine",
    ): "trials/empty_machine/__main__.py",
    ("docs/explanation/performance.md", "apt-get"): "benchmarks/compare/__main__.py",
    ("docs/reference/operation.md", "config 3f0c"): "tests/cli/test_reload.py",
    ("CONTRIBUTING.md", "ruff"): "tox.ini",
    ("CONTRIBUTING.md", "gateway.yaml +"): "tests/test_staircase.py",
    ("CONTRIBUTING.md", "9  cli"): "tests/test_staircase.py",
    ("CONTRIBUTING.md", "pip install"): "tox.ini",
}
"""A block, by its page and beginning, and what runs it in the place of a test of this file."""

RUN: set[str] = set()
"""The places of the blocks that this file runs."""


def runs(page: str, beginning: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test that runs this block, which it gets as `code`."""
    code_block = block(page, beginning)
    RUN.add(code_block.place)
    return pytest.mark.parametrize("code", [code_block], ids=[code_block.place])


def is_run(code_block: Block) -> bool:
    """Whether a test runs it."""
    if code_block.page == "docs/tutorial.md" or code_block.place in RUN:
        return True
    if code_block.page.startswith("docs/how-to/"):
        return bool(code_block.name) or code_block.language == "console" or elsewhere(code_block)
    if code_block.page == "docs/reference/commands.md":
        return code_block.language == "text"  # tests/tools/test_reference.py
    return (code_block.language == "yaml" and not code_block.name) or elsewhere(code_block)


def elsewhere(code_block: Block) -> bool:
    return any(p == code_block.page and code_block.text.startswith(start) for p, start in ELSEWHERE)


def test_every_block_is_run():
    assert [code_block.place for code_block in blocks() if not is_run(code_block)] == []


def test_what_runs_a_block_exists():
    assert [file for file in ELSEWHERE.values() if not (ROOT / file).exists()] == []
    for page, beginning in ELSEWHERE:
        assert block(page, beginning)


def test_a_block_that_nothing_runs_is_found():
    (code_block,) = blocks_of("docs/reference/x.md", "A\n```sh\nrm -r /\n```\n")
    assert (code_block.place, is_run(code_block)) == ("docs/reference/x.md:3", False)


@runs("CONTRIBUTING.md", "git clone")
def test_the_first_commands_install_extras_that_exist_and_run_a_test(code, tmp_path):
    lines = code.commands()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (named,) = re.findall(r"pip install -e '\.\[(.+)\]'", code.text)
    assert set(named.split(",")) <= set(extras["optional-dependencies"])
    (run,) = (line for line in lines if line.startswith("pytest"))
    assert "3 passed" in shell(f"{run} -p no:cacheprovider", ROOT).stdout


@runs("CONTRIBUTING.md", "sed")
def test_the_first_change_fails_its_test(code, tmp_path):
    for folder in ("engine", "schemas", "tests/support"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    change, run, undo = code.commands()
    assert undo.split()[-1] == change.split()[-1]
    for file in ("pyproject.toml", "tests/conftest.py", run.split()[-1]):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    shell(change, tmp_path)
    assert "1 failed, 2 passed" in shell(run, tmp_path, check=False).stdout


@runs("docs/reference/errors.md", "{")
def test_an_error_is_json(code):
    assert set(json.loads(code.text)["error"]) == {"message", "type", "param", "code"}


@runs("docs/how-to/ci.md", "{")
def test_the_settings_of_the_editor_name_schemas_that_are_written(code):
    settings = json.loads(code.text)
    of_project = f"schemas/{OVERLAY_FILE}"  # `modelway schema --project` writes it
    for schema in settings["yaml.schemas"]:
        assert schema == of_project or (ROOT / schema).is_file()
    tags = {tag.split()[0] for tag in settings["yaml.customTags"]}
    assert tags == {REPLACE, REMOVE, APPEND, PREPEND}


@runs("docs/how-to/ci.md", "repos:")
def test_the_hooks_of_the_page_exist(code):
    (repository,) = yaml_text.load(code.text)["repos"]
    hooks = yaml_text.load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in hooks}


@runs("docs/how-to/ci.md", "on: pull_request")
def test_the_inputs_of_the_workflow_exist(code):
    workflow = yaml_text.load(code.text)
    inputs = yaml_text.load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    (step,) = (s for s in workflow["jobs"]["modelway"]["steps"] if "modelway" in s["uses"])
    assert step["with"].keys() <= inputs.keys()
    assert workflow["permissions"]["pull-requests"] == "write"


@runs("docs/start.md", "from openai")
def test_the_client_of_openai_takes_the_address(code):
    pytest.importorskip("openai")
    names: dict[str, object] = {}
    exec(code.text, names)
    assert str(names["client"].base_url) == "http://127.0.0.1:8080/v1/"


@runs("docs/explanation/releases.md", "echo")
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
@pytest.mark.parametrize("good", [True, False])
def test_a_download_is_verified_with_the_key_of_a_release(code, good, tmp_path):
    """The release is signed by the command of the same page."""
    signs = next(b for b in blocks() if b.page == code.page and "-Y sign" in b.text)
    (sign,) = (line for line in signs.commands() if "-Y sign" in line)
    key = tmp_path / "modelway-release"
    sign = sign.replace("~/.ssh/modelway-release", str(key)).replace("dist/", "")
    (tmp_path / "a.whl").write_text("wheel")
    shell("ssh-keygen -q -t ed25519 -N '' -f modelway-release", tmp_path)
    shell(f"sha256sum a.whl > SHA256SUMS && {sign}", tmp_path)
    if not good:
        (tmp_path / "SHA256SUMS").write_text("0" * 64 + "  a.whl\n")
    result = shell(code.text, tmp_path, check=good)
    assert ("Good" in result.stdout, "a.whl: OK" in result.stdout) == (good, good)


needs_redis = pytest.mark.skipif(REDIS is None, reason="needs redis-server")


@contextmanager
def redis(file: Path, *options: str) -> Iterator[int]:
    """The port of a server that reads a config file."""
    port = free_port()
    command = [str(REDIS), file, "--port", str(port), "--dir", file.parent, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = iter(process.stdout.readline, "")
            output = "".join(
                takewhile(lambda line: not re.search("eady to accept|Sentinel ID", line), lines)
            )
            assert process.poll() is None, output
            yield port
        finally:
            process.kill()


@runs("docs/how-to/redis-sentinel.md", "# the counts")
@needs_redis
def test_redis_accepts_the_lines_for_its_file(code, tmp_path):
    (tmp_path / "redis.conf").write_text(code.text)
    with redis(tmp_path / "redis.conf") as port:
        assert b"noeviction" in command(port, "CONFIG GET maxmemory-policy")


@runs("docs/how-to/redis-sentinel.md", "sentinel")
@needs_redis
def test_sentinel_accepts_the_lines_for_its_file(code, tmp_path):
    (tmp_path / "sentinel.conf").write_text(code.text)
    with redis(tmp_path / "sentinel.conf", "--sentinel") as port:
        assert b"NOAUTH" in command(port, "SENTINEL masters")


@runs("docs/how-to/postgresql.md", "createuser")
def test_the_user_owns_the_database(code, postgres, tmp_path):
    address = f"PGHOST=127.0.0.1 PGPORT={postgres.port} PGUSER=modelway PATH={binaries()}:$PATH"
    command = code.text.strip().replace("modelway", "gateway")  # the user of the tests has the name
    shell(f"export {address}; {command}", tmp_path)
    try:
        with psycopg.connect(host="127.0.0.1", port=postgres.port, user="gateway") as connection:
            connection.execute("CREATE TABLE tokens ()")
    finally:
        postgres.run("DROP DATABASE gateway")
        postgres.run("DROP USER gateway")


@runs("docs/how-to/postgresql.md", "# postgresql.conf")
def test_postgresql_accepts_the_line_for_its_file(code, postgres):
    name, _, value = code.text.splitlines()[1].partition(" = ")
    postgres.run(f"ALTER SYSTEM SET {name} = {value}")
    postgres.run(f"ALTER SYSTEM RESET {name}")


@runs("docs/how-to/postgresql.md", "[databases]")
@pytest.mark.skipif(PGBOUNCER is None, reason="needs pgbouncer")
def test_pgbouncer_accepts_its_file(code, postgres):
    database = f"modelway = host=127.0.0.1 port={{server}} dbname={postgres.fresh().split('/')[-1]}"
    text = code.text.replace("modelway = host=127.0.0.1", database)
    text = text.replace("listen_port = 6432", "listen_port = {port}").replace("= *", "= 127.0.0.1")
    with pgbouncer(postgres, f"{text}unix_socket_dir =\nauth_type = any\n") as port:
        address = f"host=127.0.0.1 port={port} user=modelway dbname=modelway"
        psycopg.connect(address).close()


def shell(command: str, folder, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not check or result.returncode == 0, result.stdout + result.stderr
    return result
