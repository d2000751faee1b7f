"""The allow lists: what is not on them is 403."""

import pytest

from engine.exchange.exchange import Response
from engine.exchange.services import Services
from engine.policies import allow_ips, allow_models, allow_operations
from engine.values.client_address import networks
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def passes(module, options, services=None, **fields):
    exchange = new_exchange("GET", **fields)
    stage = module.build(module.read(options), services or Services())
    try:
        stage(exchange, lambda _: Response(200, []))
    except GatewayError as error:
        return error.status != 403
    return True


@pytest.mark.parametrize(
    ("model", "may"), [("gpt-4o", True), ("claude", True), ("claude-2", False), ("", True)]
)
def test_models(model, may):
    assert passes(allow_models, ["gpt*", "claude"], model=model) is may


@pytest.mark.parametrize(("operation", "may"), [("openai.chat", True), ("other.chat", False)])
def test_operations(operation, may):
    assert passes(allow_operations, ["openai.*"], operation=operation) is may


@pytest.mark.parametrize(
    ("address", "may"), [("10.1.1.1", True), ("11.1.1.1", False), ("", False), ("junk", False)]
)
def test_addresses(address, may):
    assert passes(allow_ips, ["10.0.0.0/8"], environ={"REMOTE_ADDR": address}) is may


def test_addresses_behind_a_trusted_proxy():
    services = Services(proxies=networks(["127.0.0.1"]))
    environ = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "10.1.1.1"}
    assert passes(allow_ips, ["10.0.0.0/8"], services, environ=environ)
    assert not passes(allow_ips, ["127.0.0.0/8"], services, environ=environ)


def test_an_invalid_network_is_an_error_at_start():
    with pytest.raises(ValueError, match="not an address or network"):
        allow_ips.read(["10.0.0.1/8"])
