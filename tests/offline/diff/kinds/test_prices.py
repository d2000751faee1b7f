"""Prices that a catalog of providers changes."""

from engine.offline.diff.difference import differences_between
from tests.support.rehearsing import planned

MODEL = "llama-3.3-70b-versatile"
CONFIG = """version: 1
specs: {shop: {document: shop.yaml}}
providers: {catalog: catalog.yaml}
upstreams: {fast: {provider: groq, credential: {bearer: "${KEY:-x}"}}}
routes: [{operations: shop.*, to: [{upstream: fast}], auth: none}]
"""


def side(folder, price):
    folder.mkdir()
    (folder / "catalog.yaml").write_text(
        f"groq: {{date: 2030-01-31, models: {{{MODEL}: {{price: {price}}}}}}}\n"
    )
    return planned(folder, CONFIG)


def test_a_lower_price_of_a_catalog_is_weaker(tmp_path):
    old = side(tmp_path / "old", "{input: 2, output: 3, cached_input: 1}")
    new = side(tmp_path / "new", "{input: 2, output: 3, cached_input: 0.5}")
    found = [(str(d.level), d.kind, d.subjects) for d in differences_between(old, new)]
    assert found == [("weaker", "price-changed", (f"price fast/{MODEL}",))]
    back = [(str(d.level), d.kind) for d in differences_between(new, old)]
    assert back == [("changed", "price-changed")]


def test_prices_without_a_fallback_are_compared_as_well(tmp_path):
    old = side(tmp_path / "old", "{input: 2, output: 3}")
    new = side(tmp_path / "new", "{input: 1, output: 3}")
    found = [(str(d.level), d.kind) for d in differences_between(old, new)]
    assert found == [("weaker", "price-changed")]
