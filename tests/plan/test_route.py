"""A route: its language, its destination in words, and its names."""

import pytest


@pytest.mark.parametrize(
    ("name", "language"), [("chat", "chat_completions"), ("embed", "embeddings"), ("live", "")]
)
def test_an_operation_that_may_be_translated_names_its_language(routes, name, language):
    assert routes[name].by_model.language == language


def test_an_operation_by_model_is_named_by_its_document(routes):
    operation = routes["chat"].by_model
    assert (operation.id, operation.dialect) == ("api.chat", "openai")
    assert operation.path == "/chat/completions"


@pytest.mark.parametrize(
    ("name", "destination"),
    [
        ("chat", "by model"),
        ("list", "by the gateway (models)"),
        ("live", "to fixed targets"),
    ],
)
def test_the_destination_in_words(routes, name, destination):
    assert routes[name].destination == destination


def test_an_operation_is_served_under_each_mount(routes):
    assert routes["list"].templates == [("/v1/models", "/v1"), ("/other/models", "/other")]
