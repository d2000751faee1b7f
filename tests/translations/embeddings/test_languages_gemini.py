"""What Gemini's two operations for embeddings have in common."""

import json

import pytest

from engine.translations.embeddings.language import EmbeddingInput, EmbeddingRequest
from engine.translations.embeddings.languages.gemini import (
    lose_user,
    read_input,
    read_vector,
    write_input,
    write_usage,
)
from engine.translations.generate_content.models import full_name, path_of
from engine.translations.neutral.json_members import Members, WrongType
from engine.translations.neutral.losses import Losses
from engine.values.wildcard import Patterns

FULL_REQUEST = {
    "content": {"parts": [{"text": "a fox"}]},
    "taskType": "RETRIEVAL_DOCUMENT",
    "title": "Animals",
    "outputDimensionality": 8,
}


def members(**document):
    return Members(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("model", "name", "path"),
    [
        ("m-1", "models/m-1", "/models/m-1:embedContent"),
        ("models/m", "models/m", "/models/m:embedContent"),
        ("tunedModels/t", "tunedModels/t", "/tunedModels/t:embedContent"),
        ("a/b", "models/a/b", "/models/a%2Fb:embedContent"),
    ],
)
def test_a_model_has_its_full_name_and_its_path(model, name, path):
    assert (full_name(model), path_of(model, "embedContent")) == (name, path)


def test_an_input_survives_reading_and_writing():
    assert write_input(read_input(members(**FULL_REQUEST))) == FULL_REQUEST


def test_a_task_that_is_not_specified_is_none():
    request = {**FULL_REQUEST, "taskType": "TASK_TYPE_UNSPECIFIED"}
    assert read_input(members(**request)).task_type == ""


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({}, "content"),
        ({"content": {"parts": []}}, "content.parts"),
        ({"content": {"parts": [{"text": "a"}, {"text": "b"}]}}, "content.parts"),
        ({"content": {"parts": [{"inlineData": {}}]}}, "content.parts[0].text"),
    ],
)
def test_an_input_is_one_text(document, place):
    with pytest.raises(WrongType) as excinfo:
        read_input(members(**document))
    assert excinfo.value.place == place


@pytest.mark.parametrize("user", ["", "bob"])
def test_a_user_is_a_hint_that_is_lost(user):
    losses = Losses(Patterns(()))
    inputs = [EmbeddingInput(text="a", place="input")]
    lose_user(EmbeddingRequest(model="m", inputs=inputs, user=user), losses)
    assert [(loss.place, loss.hint) for loss in losses.losses] == [("user", True)] * bool(user)


def test_a_vector_is_its_values():
    assert bytes(read_vector(members(values=[1, 2.5]))) == b"[1, 2.5]"


@pytest.mark.parametrize(("embedding", "place"), [(None, "embedding"), (members(), "values")])
def test_an_answer_without_a_vector_is_refused(embedding, place):
    with pytest.raises(WrongType) as excinfo:
        read_vector(embedding)
    assert excinfo.value.place == place


def test_usage_is_written_where_it_is_known():
    assert write_usage(None) == {}
    assert write_usage(7)["usageMetadata"] == {"promptTokenCount": 7, "totalTokenCount": 7}
