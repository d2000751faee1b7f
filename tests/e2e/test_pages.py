"""Commands of pages that need a gateway, a project or a repository around them."""

from __future__ import annotations

import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.blocks import block, blocks
from tests.support.ports import free_port
from tests.support.tutorial import Shell, shell_in
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    not shutil.which("curl") or not shutil.which("bash"), reason="needs bash and curl"
)
BODY = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}'
OWN = ("modelway init", "export OPENAI_API_KEY")
"""The beginnings of the blocks that lead to a gateway of your own."""
WAIT = "curl -s --retry 60 --retry-connrefused --retry-delay 1"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with shell_in(tmp_path) as running:
        running.run("PS4=; set -o pipefail")
        yield running


def succeed(shell: Shell, command: str) -> str:
    """What a command prints, which has to end with 0."""
    output = shell.run(f"{command}\necho; echo status $?")
    *lines, status = output.rstrip().splitlines()
    assert status == "status 0", f"{command}\n{output}"
    return "\n".join(lines)


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_a_gateway_of_your_own(shell: Shell, page: str) -> None:
    """The commands in their order, with the entry of the token in the place that `init` names."""
    port, telemetry = free_port(), free_port()
    commands = [
        c for b in blocks() if b.page == page and b.text.startswith(OWN) for c in b.commands()
    ]
    for command in commands:
        if command == "modelway serve":
            shell.run("modelway serve > gateway.txt 2>&1 &")
            assert succeed(shell, f"{WAIT} http://127.0.0.1:{telemetry}/readyz")
        elif command == "modelway top":
            assert "requests" in succeed(shell, "modelway top --once --every 1")
        else:
            output = succeed(shell, command)
        if command.startswith("modelway init"):
            succeed(shell, f"sed -i s/127.0.0.1:8080/127.0.0.1:{port}/ gateway.yaml")
            succeed(shell, f"sed -i s/127.0.0.1:9464/127.0.0.1:{telemetry}/ gateway.yaml")
        if command.startswith("modelway token new"):
            (secret,) = re.findall(r"mw-\S+", output)
            entry = output[output.index("  - ") :]
            succeed(shell, f"cat >> gateway.yaml <<'END'\n{entry}\nEND")
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/models", headers={"authorization": f"Bearer {secret}"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert b"gpt-4o" in answer.read()
    reload = block("docs/how-to/rolling-restart.md", "modelway reload")
    assert "serves since" in succeed(shell, reload.text.strip())
    shell.run("kill %1; wait")


@pytest.fixture
def project(shell: Shell) -> Shell:
    """A project of `init`, with a token for alice and a database."""
    succeed(shell, "modelway init project > /dev/null && cd project")
    succeed(shell, "modelway token new alice > secret.txt")
    succeed(shell, "grep -A9 '^  - ' secret.txt >> gateway.yaml")
    succeed(shell, "echo 'stores: {records: \"sqlite:///modelway.db\"}' >> gateway.yaml")
    succeed(shell, f"echo '{BODY}' > body.json")
    return shell


def test_explain_of_the_page(project: Shell) -> None:
    whole, failing = block("docs/reference/tests.md", "modelway explain").commands()
    assert "served (200)" in succeed(project, whole)
    assert "503" in succeed(project, f"{failing} || [ $? = 1 ]")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_diff_of_the_page(project: Shell, tmp_path: Path) -> None:
    git = "git -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false"
    succeed(project, f"git init -q -b main && git add . && {git} commit -qm one")
    succeed(project, "git checkout -qb change")
    succeed(project, "sed -i 's/max_body: 25MB/max_body: 50MB/' gateway.yaml")
    for command in block("docs/reference/tests.md", "git show").commands():
        place = command.replace("/tmp/main", str(tmp_path / "main"))
        assert "max_body" in succeed(project, f"{place} || [ $? = 3 ]")


def test_tokens_and_usage_of_the_pages(project: Shell) -> None:
    create, update, *synopses = block("docs/reference/tokens.md", "modelway token").commands()
    assert "mw-" in succeed(project, create.replace("alice", "bob"))
    assert "30 USD/month" in succeed(project, update.replace("alice", "bob"))
    assert len(synopses) == 2
    for command in block("docs/how-to/monthly-budget.md", "modelway usage").commands():
        succeed(project, command)


def test_a_gunicorn_of_your_own(project: Shell) -> None:
    (command,) = block("docs/reference/gunicorn.md", "MODELWAY_CONFIG").commands()
    port = free_port()
    command = command.replace("0.0.0.0:8080", f"127.0.0.1:{port}").replace("-w 4", "-w 1")
    project.run(f"{command} > gunicorn.txt 2>&1 &")
    assert "ok" in succeed(project, f"{WAIT} http://127.0.0.1:{port}/healthz || cat gunicorn.txt")
    project.run("kill %1; wait")


def test_a_gateway_before_the_mock(project: Shell) -> None:
    """The commands of the page, and a request."""
    port, telemetry, upstream = free_port(), free_port(), free_port()
    succeed(project, f"sed -i s/127.0.0.1:8080/127.0.0.1:{port}/ gateway.yaml")
    succeed(project, f"sed -i s/127.0.0.1:9464/127.0.0.1:{telemetry}/ gateway.yaml")
    mock, variables, serve = block("docs/reference/mock.md", "modelway mock").commands()
    project.run(mock.replace("mock &", f"mock --port {upstream} > mock.txt 2>&1 &"))
    succeed(project, variables.replace(":9000", f":{upstream}"))
    project.run(f"{serve} > gateway.txt 2>&1 &")
    assert succeed(project, f"{WAIT} http://127.0.0.1:{telemetry}/readyz || cat gateway.txt")
    (secret,) = re.findall(r"mw-\w+", succeed(project, "cat secret.txt"))
    answer = succeed(
        project,
        f"curl -s http://127.0.0.1:{port}/v1/chat/completions -d @body.json"
        f" -H 'authorization: Bearer {secret}' -H 'content-type: application/json'",
    )
    assert "Hello" in answer
    project.run("kill %1 %2; wait")


def test_the_schema_of_the_page(project: Shell) -> None:
    succeed(project, "rm schemas/gateway.schema.json")
    succeed(project, block("docs/how-to/ci.md", "modelway schema").text.strip())
    assert "$schema" in succeed(project, "head -3 schemas/gateway.schema.json")


COMPLETIONS = {
    "bash": """COMP_WORDS=(modelway che) COMP_CWORD=1
$(complete -p modelway | sed 's/.*-F //; s/ .*//') modelway
echo ${COMPREPLY[@]}""",
    "zsh": "_describe() { print -l ${(P)3} }; words=(modelway che) CURRENT=2; $_comps[modelway]",
    "fish": 'complete -C "modelway che"',
}
"""What each shell does for `modelway che` and the key Tab."""


@pytest.mark.parametrize("name", COMPLETIONS)
def test_completion_of_the_page(shell: Shell, tmp_path: Path, name: str) -> None:
    """Completes a command after the line of the page was run, in a shell without any other."""
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    lines = block("docs/how-to/ci.md", 'eval "').commands()
    (line,) = (line for line in lines if f"completion {name}" in line)
    script = tmp_path / f"completion.{name}"
    script.write_text(f"{line}\n{COMPLETIONS[name]}\n")
    bare = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}[name]
    assert succeed(shell, f"{name} {bare} {script}").startswith("check")
