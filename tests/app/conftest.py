"""Configs with stores, and the services that are opened for them."""

from __future__ import annotations

import json

import pytest

from engine.app.services.worker_services import services_of
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan
from tests.support import mcp_messages, mcp_shop, mcp_upstreams
from tests.support.recording import answer, recorder
from tests.support.signed_tokens import ENTRY, key_set
from tests.support.small import project


@pytest.fixture
def config(tmp_path):
    def make(more):
        path = tmp_path / "gateway.yaml"
        text = project(tmp_path, "http://127.0.0.1:9", {"chat": "[]"}, more=more)
        path.write_text(text.replace("{listen}", "127.0.0.1:1"))
        planned = make_plan(path, {})
        assert planned.plan is not None, planned.findings.errors
        return planned.plan.config

    return make


@pytest.fixture
def opened():
    """Services that are closed in the end."""
    opened_services = []

    def make(config):
        services = services_of(Plan(config, ()))
        opened_services.append(services)
        return services

    yield make
    for services in opened_services:
        services.close()


@pytest.fixture(scope="module")
def shop_upstream():
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def shop_gateway(tmp_path_factory, shop_upstream):
    """The gateway of `mcp_shop`, for the tests of a module."""
    config = mcp_shop.CONFIG.replace("URL", shop_upstream.url)
    files = {"gateway.yaml": config, "shop.yaml": mcp_shop.DOCUMENT}
    return mcp_messages.Gateway(tmp_path_factory.mktemp("mcp"), files)


@pytest.fixture(scope="module")
def jwt_shop(tmp_path_factory):
    """The same with an issuer of tokens, without an upstream."""
    folder = tmp_path_factory.mktemp("jwt")
    (folder / "keys.json").write_text(json.dumps({"keys": key_set()}))
    issuer = ENTRY % ", jwks_file: keys.json"
    config = f"{mcp_shop.CONFIG}callers: {{jwt: [{issuer}]}}\n".replace("URL", "http://127.0.0.1:9")
    files = {"gateway.yaml": config, "shop.yaml": mcp_shop.DOCUMENT}
    return mcp_messages.Gateway(folder, files)


@pytest.fixture
def shop(shop_gateway, shop_upstream):
    """The same, as it was at the start, with an upstream that answers `{"id":"7"}`."""
    shop_upstream.reset()
    shop_upstream.speak = answer(b'{"id":"7"}')
    shop_gateway.ended.clear()
    return shop_gateway


@pytest.fixture(scope="module")
def far_upstream():
    with recorder() as recording:
        yield recording


@pytest.fixture
def far(tmp_path, far_upstream):
    """A function that makes a gateway before a scripted MCP server."""
    gateways = []

    def make(script, edit=lambda text: text, files=(), **services):
        far_upstream.reset()
        far_upstream.speak = script
        text = edit(mcp_upstreams.CONFIG.replace("URL", far_upstream.url))
        texts = {"gateway.yaml": text, **dict(files)}
        gateways.append(mcp_messages.Gateway(tmp_path, texts, **services))
        return gateways[-1]

    yield make
    for gateway in gateways:
        gateway.app.close()
