"""`webhooks:` of gateway.yaml."""

from tests.support.configs import read_config

SECRET = "whsec_" + "a2V5" * 8


def test_a_webhook_has_one_secret_or_several():
    config = read_config(
        "webhooks:\n"
        f"  a: {{url: 'https://a.test/x?y=1', secret: {SECRET}}}\n"
        f"  b: {{url: 'http+unix:///run/b', secret: [{SECRET}, other], timeout: 5s}}\n"
    )
    one, two = config.webhooks["a"], config.webhooks["b"]
    assert (one.url, one.secrets, one.timeout) == ("https://a.test/x?y=1", (SECRET,), 10.0)
    assert (two.secrets, two.timeout) == ((SECRET, "other"), 5.0)
    assert SECRET not in repr(one)


def test_a_gateway_with_webhooks_has_a_recorder():
    hook = f"webhooks: {{a: {{url: 'https://a.test', secret: {SECRET}}}}}\n"
    assert read_config(hook).needs_recorder
    assert read_config("stores: {records: 'sqlite:///a.db'}\n").needs_recorder
    assert not read_config("currency: EUR\n").needs_recorder
