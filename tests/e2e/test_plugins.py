"""The distribution of docs/how-to/plugin.md, installed by pip, checked and served; and some that
cannot be used."""

from __future__ import annotations

import hmac
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.how_to import Page
from tests.support.paths import ROOT
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import ALL, TOKENS, Running, gateway, modelway
from tests.support.thorough import some

pytestmark = pytest.mark.skipif(
    None in (find_spec("pip"), find_spec("setuptools")),
    reason="pip and setuptools install the distribution; setuptools comes with modelway[test]",
)

KEY = "the-key-of-the-signature"
PAGE = Page.read((ROOT / "docs/how-to/plugin.md").read_text("utf-8"))
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "large",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Hi", "refusal": None},
        }
    ],
}


def install(files: Mapping[str, str], source: Path, target: Path) -> None:
    """Install a distribution from its files, without network."""
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, "utf-8")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", "-q", *offline, "--target", target, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def environ_with(site: Path) -> dict[str, str]:
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), "SIGNATURE_KEY": KEY, "NO_PROXY": "*"}


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that find the page's distribution."""
    site = tmp_path_factory.mktemp("site")
    files = {name: text for name, text in PAGE.files.items() if name != "gateway.yaml"}
    install(files, tmp_path_factory.mktemp("source"), site)
    return environ_with(site)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "openapi").symlink_to(ROOT / "openapi")
    (folder / "gateway.yaml").write_text(PAGE.files["gateway.yaml"])
    return folder


@pytest.fixture(scope="module")
def upstreams() -> Iterator[tuple[Recorder, Recorder]]:
    with recorder() as first, recorder() as second:
        yield first, second


@pytest.fixture(scope="module")
def running(
    environ: dict[str, str],
    upstreams: tuple[Recorder, Recorder],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Running]:
    served = tmp_path_factory.mktemp("served")
    (served / "openapi").symlink_to(ROOT / "openapi")
    config = PAGE.files["gateway.yaml"].partition("tokens:")[0]
    for name, upstream in zip(("first", "second"), upstreams, strict=True):
        config = config.replace(f"https://{name}.test", upstream.url)
    config += 'server: {listen: "{listen}", workers: 1}\n' + TOKENS
    with gateway(served, config, environ) as front:
        yield front


def chat(running: Running, *headers: str) -> Any:
    body = {"model": "large", "messages": [{"role": "user", "content": "Hello"}]}
    data = json.dumps(body).encode()
    return ask(running.port, request("/v1/chat/completions", data, token=ALL, headers=[*headers]))


def problems(folder: Path, environ: dict[str, str], config: str) -> tuple[int, list[Any]]:
    """The exit status of `check` for a config, and the problems about plug-ins."""
    (folder / "other.yaml").write_text(config)
    done = modelway("check", "--json", "-c", "other.yaml", cwd=folder, environ=environ)
    found = json.loads(done.stdout)["problems"]
    return done.returncode, [each for each in found if each["code"] in ("MW113", "MW114")]


def test_the_page_is_checked(folder: Path, environ: dict[str, str]) -> None:
    (command,) = PAGE.commands
    done = modelway(*command.words[1:], cwd=folder, environ=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert command.prints(done.stdout), done.stdout


def test_without_the_distribution_its_names_are_unknown(folder: Path) -> None:
    done = modelway("check", cwd=folder, environ={"SIGNATURE_KEY": KEY})
    assert done.returncode == 1
    for name in ("signed", "in_order", "require_header"):
        assert f"'{name}'" in done.stdout, done.stdout


def test_the_policy_and_the_order_and_the_signature(
    running: Running, upstreams: tuple[Recorder, Recorder]
) -> None:
    first, second = upstreams
    first.speak = second.speak = answer(json.dumps(ANSWER).encode())
    refused = chat(running)
    assert refused.status == 403
    assert json.loads(refused.body)["error"]["code"] == "header_missing"
    for _ in range(5):
        assert chat(running, "X-Cost-Center: 7").status == 200
    assert (len(first.requests), len(second.requests)) == (5, 0)
    signature = hmac.new(KEY.encode(), first.last.body, "sha256").hexdigest()
    assert first.last.values("x-signature") == [signature]
    first.speak = answer(b"{}", status=503)
    assert chat(running, "X-Cost-Center: 7").status == 200
    assert len(second.requests) == 1


def test_wrong_options_have_their_place(folder: Path, environ: dict[str, str]) -> None:
    config = PAGE.files["gateway.yaml"]
    config = config.replace("require_header: x-cost-center", "require_header: 7")
    config = config.replace('{signed: "${SIGNATURE_KEY}"}}', "{signed: [a]}}")
    (folder / "other.yaml").write_text(config)
    done = modelway("check", "-c", "other.yaml", cwd=folder, environ=environ)
    assert done.returncode == 1
    line = config[: config.index("require_header")].count("\n") + 1
    assert f"other.yaml:{line}:" in done.stdout
    assert "other.yaml:5:" in done.stdout


def test_no_secret_of_its_options_is_shown(folder: Path, environ: dict[str, str]) -> None:
    config = PAGE.files["gateway.yaml"].replace("${SIGNATURE_KEY}", "plainly written")
    (folder / "other.yaml").write_text(config)
    done = modelway("config", "-c", "other.yaml", cwd=folder, environ=environ)
    assert done.returncode == 0, done.stderr
    assert "plainly written" not in done.stdout


def test_editors_know_the_options(folder: Path, environ: dict[str, str]) -> None:
    schema = json.loads(modelway("schema", cwd=folder, environ=environ).stdout)
    definitions = schema["$defs"]
    assert "require_header" in definitions["policies"]["items"]["properties"]
    assert "signed" in definitions["credential"]["properties"]
    assert "in_order" in json.dumps(definitions["choose"])


def test_the_version_lists_them(environ: dict[str, str]) -> None:
    text = modelway("version", environ=environ).stdout
    assert "plug-in: the policy 'require_header' of acme-modelway 1.0\n" in text
    report = json.loads(modelway("version", "--json", environ=environ).stdout)
    assert {
        "distribution": "acme-modelway",
        "version": "1.0",
        "group": "modelway.strategies",
        "name": "in_order",
    } in report["plugins"]


BROKEN = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "broken-modelway"
version = "2.0"
[project.entry-points."modelway.policies"]
deny = "broken:POLICY"
odd = "broken:WRONG_TYPE"
untrue = "broken:NOT_A_SCHEMA"
[project.entry-points."modelway.strategies"]
away = "broken_dependency:STRATEGY"
[project.entry-points."modelway.credentials"]
vault = "broken_dependency:CREDENTIAL"
[project.entry-points."modelway.dialects"]
other = "broken:DIALECT"
acme = "broken:ACME"
[project.entry-points."modelway.policy"]
lost = "broken:POLICY"
[tool.setuptools]
py-modules = ["broken", "broken_dependency"]
""",
    "broken.py": """
from msgspec.structs import replace
from engine.dialects.openai import DIALECT
from engine.plugins import StagePolicy

ACME = replace(DIALECT, name="acme")
WRONG_TYPE = {}
POLICY = StagePolicy(schema={"type": "string"}, read=str, build=None)
NOT_A_SCHEMA = StagePolicy(schema={"type": "riddle"}, read=str, build=None)
""",
    "broken_dependency.py": "import a_module_that_is_not_installed",
}
PLAIN = """version: 1
specs: {openai: {document: openapi/openai.yaml, dialect: openai}}
upstreams: {main: {url: https://main.test/v1%s}}
models: {large: {to: [{upstream: main}]%s}}
policies: [%s]
routes: [{operation: openai.createChatCompletion, model: $request.body#/model}]
"""
OF = "of broken-modelway 2.0"
LACKS = "cannot be loaded: ModuleNotFoundError: No module named 'a_module_that_is_not_installed'"
REASONS = {
    f"the policy 'deny' {OF} has the name of one of Modelway's own, which it cannot replace",
    f"the policy 'odd' {OF}: broken:WRONG_TYPE is of the type dict; it must be a "
    "StagePolicy or LimitPolicy or TransformPolicy",
    f"the strategy 'away' {OF} {LACKS}",
    f"the kind of credential 'vault' {OF} {LACKS}",
    f"the dialect 'other' {OF}: its own name is 'openai'; write name='other'",
    f"the plug-in 'lost' {OF} is in the group 'modelway.policy', which is not one of "
    "modelway.policies, modelway.strategies, modelway.credentials, modelway.dialects",
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that find plug-ins which cannot be used."""
    site = tmp_path_factory.mktemp("broken-site")
    install(BROKEN, tmp_path_factory.mktemp("broken-source"), site)
    return environ_with(site)


def test_a_config_that_uses_none_of_them_is_served_with_warnings(
    folder: Path, broken: dict[str, str]
) -> None:
    status, noted = problems(folder, broken, PLAIN % ("", "", ""))
    assert status == 0
    warnings = {each["message"] for each in noted if each["code"] == "MW113"}
    (schema,) = warnings - REASONS
    assert warnings >= REASONS
    start = f"the policy 'untrue' {OF}: the schema of its options is not valid: "
    assert schema.startswith(start)
    assert {each["level"] for each in noted if each["code"] == "MW113"} == {"warning"}


@pytest.mark.parametrize(
    ("config", "name", "line"),
    some(
        [
            (PLAIN % ("", "", "{deny: {if: {body: {n: 2}}}}"), "deny", 5),
            (PLAIN % (", dialect: other", "", ""), "other", 3),
            (PLAIN % (", credential: {vault: {a: b}}", "", ""), "vault", 3),
            (PLAIN % ("", "", "{odd: 1}"), "odd", 5),
            (PLAIN % ("", "", "{untrue: 1}"), "untrue", 5),
            (PLAIN % ("", ", choose: away", ""), "away", 4),
        ],
        3,
    ),
)
def test_one_that_a_config_uses_is_an_error_there(
    folder: Path, broken: dict[str, str], config: str, name: str, line: int
) -> None:
    status, noted = problems(folder, broken, config)
    assert status == 1
    (error,) = [each for each in noted if each["level"] == "error"]
    assert f"'{name}' {OF}" in error["message"]
    assert error["line"] == line


def test_a_dialect_beside_them_can_be_used(folder: Path, broken: dict[str, str]) -> None:
    config = PLAIN.replace("dialect: openai", "dialect: acme")
    status, noted = problems(folder, broken, config % (", dialect: acme", "", ""))
    assert status == 0, noted
    (brought,) = [each["message"] for each in noted if each["code"] == "MW114"]
    assert "dialect 'acme'" in brought
    without, _ = problems(folder, {}, config % (", dialect: acme", "", ""))
    assert without == 1
