"""`models:` as values."""

from engine.config.models import target_paths
from tests.support.configs import read_config


def test_a_model_has_targets_with_places():
    config = read_config(
        "models:\n  a:\n    to: [{upstream: x}, {upstream: y, model: b, weight: 2.5}]\n"
    )
    model = config.models["a"]
    assert [(t.upstream, t.model, t.weight) for t in model.to] == [("x", "", 1.0), ("y", "b", 2.5)]
    places = [config.source.place(at) for at, _ in target_paths(model.at, model.to)]
    assert places == [(6, 10), (6, 25)]
    assert (model.fallback, model.title, model.owner, model.created) == ((), "a", "modelway", 0)


def test_a_model_has_a_title_an_owner_and_a_date_for_lists():
    model = read_config(
        "models: {a: {to: [{upstream: x}], fallback: [b, c], title: T, owner: O, created: 5}}\n"
    ).models["a"]
    assert (model.fallback, model.title, model.owner, model.created) == (("b", "c"), "T", "O", 5)


def test_entries_share_equal_targets():
    models = read_config(
        "models:\n  a: {to: [{upstream: x}, {upstream: y, weight: 2}]}\n"
        "  b: {to: [{upstream: x, weight: 1}, {upstream: y, weight: 2.0}]}\n"
        "  c: {to: [{upstream: x}, {upstream: y}]}\n"
        "  d: {to: [{upstream: x, max_in_flight: 1}]}\n"
    ).models
    assert models["a"].to is models["b"].to
    assert models["a"].to[0] is models["c"].to[0]
    assert models["a"].to[1] != models["c"].to[1]
    assert (models["d"].to[0].max_in_flight, models["a"].to[0].max_in_flight) == (1, None)


def test_targets_with_transforms_keep_their_places():
    transform = "transform: {request: {body: {set: {a: 1}}}}"
    models = read_config(
        f"models:\n  a: {{to: [{{upstream: x, {transform}}}]}}\n"
        f"  b: {{to: [{{upstream: x, {transform}}}]}}\n"
    ).models
    places = [models[name].to[0].transform[0].at for name in "ab"]
    assert places == [("models", name, "to", 0, "transform") for name in "ab"]
