"""`models:` as values."""

from tests.support.configs import read_config


def test_a_model_has_targets_with_places():
    config = read_config(
        "models:\n  a:\n    to: [{upstream: x}, {upstream: y, model: b, weight: 2.5}]\n"
    )
    model = config.models["a"]
    assert [(t.upstream, t.model, t.weight) for t in model.to] == [("x", "", 1.0), ("y", "b", 2.5)]
    assert [config.source.place(t.at) for t in model.to] == [(6, 10), (6, 25)]
    assert (model.fallback, model.title, model.owner, model.created) == ((), "a", "modelway", 0)


def test_a_model_has_a_title_an_owner_and_a_date_for_lists():
    model = read_config(
        "models: {a: {to: [{upstream: x}], fallback: [b, c], title: T, owner: O, created: 5}}\n"
    ).models["a"]
    assert (model.fallback, model.title, model.owner, model.created) == (("b", "c"), "T", "O", 5)
