"""What a master loads, so that none of its workers has to."""

import json
import os
import subprocess
import sys

import pytest

from engine.app import preload
from engine.plan.assembly.make_plan import make_plan
from engine.upstream.client import tls
from engine.upstream.client.tls import TlsFiles
from tests.support.each import each
from tests.support.paths import ROOT
from tests.support.signed_tokens import key_set

WORKER = """
import os, sys, tempfile
from pathlib import Path
import engine.cli.serve, engine.server.gateway
from engine.app.preload import preload
from engine.plan.assembly.make_plan import make_plan
from engine.server.gevent_patches import gevent_plugins, patching
plan = make_plan(Path(sys.argv[1]), os.environ).plan.served()
preload(plan)
gevent_plugins()
loaded = set(sys.modules)
from gevent import monkey
with patching():
    monkey.patch_all()
from engine.server.serving import serving
from engine.process.channel import Channel
from engine.telemetry.health import ConfigStatus
folder = Path(tempfile.mkdtemp())
serving(plan, folder, ConfigStatus(), recorder=Channel()).close()
print(*sorted(set(sys.modules) - loaded))
"""
KEY = "0123456789abcdef" * 3
OF_LIBRARIES = ("_threading_local", "gevent.monkey._patch_thread_", "cachetools._cached")
"""How the names begin of what libraries import within a function."""


def imported_by_a_worker(config):
    """The modules that a worker beside a recorder imports, but for those of libraries."""
    keys = {f"{vendor}_API_KEY": "example" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI")}
    keys["KEY"] = KEY
    command = [sys.executable, "-c", WORKER, str(config)]
    result = subprocess.run(
        command, cwd=ROOT, env=os.environ | keys, capture_output=True, text=True, check=True
    )
    return [name for name in result.stdout.split() if not name.startswith(OF_LIBRARIES)]


def test_a_worker_of_the_shipped_config_imports_nothing_that_workers_could_share():
    assert imported_by_a_worker("gateway.yaml") == []


@pytest.mark.parametrize(
    "more",
    [
        "stores: {records: 'sqlite:///records.db'}\n",
        "callers: {jwt: [{issuer: 'https://id.example', audience: a, jwks_file: keys.json}]}\n",
        "server: {base_url: 'https://models.example'}\n"
        "callers: {jwt: [{issuer: 'https://id.example', audience: a, jwks_file: keys.json}]}\n"
        "console: {sign_in: {issuer: 'https://id.example', client_id: c, keys: ['${KEY}']}}\n",
        "telemetry: {traces: {endpoint: 'http://127.0.0.1:9'}, otlp_metrics: "
        "{endpoint: 'http://127.0.0.1:9'}}\n",
    ],
    ids=["records", "jwt", "sign-in", "otlp"],
)
def test_neither_does_one_of_a_config_with_more_parts(tmp_path, more):
    (tmp_path / "keys.json").write_text(json.dumps({"keys": key_set()}))
    plan_with("{url: 'http://127.0.0.1:9'}", tmp_path, more)
    assert imported_by_a_worker(tmp_path / "gateway.yaml") == []


def plan_with(upstream, tmp_path, more=""):
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.1.0\ninfo: {title: A, version: '1'}\n"
        "paths: {/a: {get: {operationId: a, responses: {}}}}\n"
    )
    config = tmp_path / "gateway.yaml"
    config.write_text(
        "version: 1\nspecs: {api: {document: api.yaml}}\n"
        f"upstreams: {{up: {upstream}}}\n"
        f"routes: [{{operations: api.*, to: [{{upstream: up}}]}}]\n{more}"
    )
    plan = make_plan(config, {"KEY": KEY}).plan
    assert plan is not None
    return plan


@each(
    ("upstream", "count"),
    [("{url: 'https://127.0.0.1:9'}", 1), ("{url: 'http://127.0.0.1:9'}", 0)],
)
def test_authorities_are_read_where_an_upstream_is_asked_over_tls(
    tmp_path, monkeypatch, upstream, count
):
    reads = []
    monkeypatch.setattr(preload, "read_authorities", lambda: reads.append(1))
    preload.preload(plan_with(upstream, tmp_path))
    assert len(reads) == count


@each(
    ("more", "module"),
    [
        ("mcp: {a: {path: /mcp, operations: [api.*]}}\n", "engine.app.mcp.servers"),
        ('objects: {key: "${KEY}"}\n', "engine.objects.id_cipher"),
    ],
)
def test_workers_share_what_a_part_of_the_config_needs(tmp_path, monkeypatch, more, module):
    loads = []
    monkeypatch.setattr(preload, "import_module", loads.append)
    preload.preload(plan_with("{url: 'http://127.0.0.1:9'}", tmp_path))
    assert module not in loads
    preload.preload(plan_with("{url: 'http://127.0.0.1:9'}", tmp_path, more))
    assert module in loads


def test_upstreams_share_the_authorities_that_were_read_last():
    first = TlsFiles(None, None, verify=True).context()
    assert TlsFiles(None, None, verify=True).context() is first
    tls.read_authorities()
    second = TlsFiles(None, None, verify=True).context()
    assert second is not first
    assert TlsFiles(None, None, verify=True).context() is second
