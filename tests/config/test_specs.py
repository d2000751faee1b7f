"""`specs:` as values."""

from tests.support.configs import read_config


def test_a_spec_has_mounts_and_token_carriers_and_is_plain_by_default():
    config = read_config(
        "",
        specs="specs: {a: {document: a.yaml}, b: {document: b.yaml, mount: /x, dialect: openai},"
        " c: {document: c.yaml, mount: [/x, /y], token: [bearer, {query: key}]}}\n",
    )
    a, b, c = config.specs.values()
    assert (a.dialect, a.mount, a.token) == ("plain", (), ())
    assert (b.dialect, b.mount) == ("openai", ("/x",))
    assert (c.mount, c.token) == (("/x", "/y"), ("bearer", {"query": "key"}))
