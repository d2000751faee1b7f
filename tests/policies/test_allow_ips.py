"""The policy `allow_ips`."""

import pytest

from engine.exchange.stage_services import Services
from engine.policies.allow_ips import POLICY
from engine.values.client_address import networks
from tests.support.policies import passes


@pytest.mark.parametrize(
    ("address", "may"), [("10.1.1.1", True), ("11.1.1.1", False), ("", False), ("junk", False)]
)
def test_only_listed_addresses_pass(address, may):
    assert passes(POLICY, ["10.0.0.0/8"], environ={"REMOTE_ADDR": address}) is may


def test_addresses_behind_a_trusted_proxy():
    services = Services(proxies=networks(["127.0.0.1"]))
    environ = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "10.1.1.1"}
    assert passes(POLICY, ["10.0.0.0/8"], services, environ=environ)
    assert not passes(POLICY, ["127.0.0.0/8"], services, environ=environ)


def test_an_invalid_network_is_an_error_at_start():
    with pytest.raises(ValueError, match="not an address or network"):
        POLICY.read(["10.0.0.1/8"])
