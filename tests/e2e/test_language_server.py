"""The schemas of a project in yaml-language-server, as editors use it."""

import pytest
from click.testing import CliRunner

from engine import cli
from tests.support.language_server import language_server, program
from tests.support.mistakes import project

pytestmark = pytest.mark.skipif(
    program() is None, reason="yaml-language-server is missing: npm install -g yaml-language-server"
)
SCHEMAS = {
    "schemas/gateway.schema.json": "gateway.yaml",
    "schemas/overlay.schema.json": "prod.yaml",
}
CONFIG = """\
version: 1
specs: {}
upstreams:
  main:
    provider:\x20
    dialect:\x20
models:
  small:
    to:
      - upstream:\x20
    fallback:
      -\x20
routes:
  - operation:\x20
"""
OVERLAY = """\
server: {keepalive: !remove }
upstreams:
  local: {timeouts: !replace {total: 5m}, tls: }
  spare: {urk: http://127.0.0.1:9}
tokens: !append
  - name: carol
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = project(tmp_path)
    monkeypatch.chdir(folder)
    keys = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "ORDERS_KEY": "c"}
    result = CliRunner().invoke(cli.main, ["schema", "--project"], env=keys)
    assert result.exit_code == 0, result.output
    return folder


def test_a_config_and_an_overlay_without_mistakes_have_no_diagnostics(folder):
    with language_server(folder, SCHEMAS) as server:
        assert server.diagnostics(folder / "gateway.yaml") == []
        assert server.diagnostics(folder / "prod.yaml") == []


def test_an_overlay_is_validated_as_one(folder):
    (folder / "prod.yaml").write_text(OVERLAY)
    with language_server(folder, SCHEMAS) as server:
        lines = [text.split(":")[0] for text in server.diagnostics(folder / "prod.yaml")]
    assert lines == ["4", "6"]


def test_names_are_completed(folder):
    file = folder / "gateway.yaml"
    file.write_text(CONFIG)
    ends = {number: len(line) + 1 for number, line in enumerate(CONFIG.splitlines(), 1)}
    with language_server(folder, SCHEMAS) as server:
        suggested = {
            line: server.completions(file, line, ends[line]) for line in (5, 6, 10, 12, 14)
        }
    assert {"anthropic", "groq"} <= set(suggested[5])
    assert {"openai", "plain"} <= set(suggested[6])
    assert {"openai", "orders"} <= set(suggested[10])
    assert {"gpt-4o", "llama"} <= set(suggested[12])
    assert {"chat.createEmbedding", "shop.*"} <= set(suggested[14])
