"""What a newer catalog changes."""

from engine.config.catalog_updates import SHIPPED, Catalog
from engine.offline.diff.catalogs import CatalogChange, catalog_differences

MODEL = "llama-3.3-70b-versatile"


def changes_of(models):
    after = Catalog({"groq": {"date": "2030-01-31", "models": models}})
    (provider,) = catalog_differences(SHIPPED, after, ["groq"])
    assert (provider.old_date, provider.new_date) == ("2026-07-02", "2030-01-31")
    return [*provider.changes]


def test_a_price_is_up_or_down_by_a_percentage():
    price = {"input": 0.295, "output": 0.79, "cached_input": 0.1}
    assert changes_of({MODEL: {"price": price}}) == [
        CatalogChange(MODEL, "price", "input", 0.59, 0.295, -50.0),
        CatalogChange(MODEL, "price", "cached_input", None, 0.1),
    ]


def test_models_come_and_go():
    assert changes_of({MODEL: None, "new": {"price": {"input": 1}}}) == [
        CatalogChange(MODEL, "removed", old={"input": 0.59, "output": 0.79}),
        CatalogChange("new", "added", new={"input": 1}),
    ]


def test_facts_change():
    assert changes_of({MODEL: {"context": 1}}) == [
        CatalogChange(MODEL, "fact", "context", 131072, 1)
    ]


def test_equal_catalogs_have_no_differences():
    assert [*catalog_differences(SHIPPED, Catalog(), ["groq", "openai"])] == []
