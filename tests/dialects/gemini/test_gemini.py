"""The Gemini dialect: errors and pages of models."""

import pytest

from engine.dialects import ModelCard
from tests.support.dialects import listed, names


def test_a_model_of_gemini_has_a_resource_name():
    card = ModelCard("org/m0:x", "Model 0", "me", 5, methods=("embedContent",))
    model = listed("gemini", [card])["models"][0]
    assert (model["name"], model["displayName"]) == ("models/org/m0:x", "Model 0")
    assert model["supportedGenerationMethods"] == ["embedContent"]


def test_all_pages_of_gemini_are_all_models():
    models, token = [], None
    while True:
        page = listed("gemini", pageSize="7", **({"pageToken": token} if token else {}))
        models += [model["baseModelId"] for model in page["models"]]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert models == names(0, 60)


@pytest.mark.parametrize(
    ("size", "count"),
    [(None, 50), ("0", 50), ("1", 1), ("60", 60), ("1000", 60), ("1001", 60), ("9999999999", 60)],
)
def test_gemini_pages_have_the_requested_size(size, count):
    document = listed("gemini", **({"pageSize": size} if size else {}))
    assert len(document["models"]) == count
    assert ("nextPageToken" in document) == (count < 60)
