"""The list of models in each dialect, page by page, and which dialect claims a request."""

import pytest

from engine import dialects
from engine.dialects import ModelCard, ModelList
from engine.values.errors import GatewayError

CARDS = [ModelCard(f"org/m{n}:x", f"Model {n}", "me", 1_700_000_000 + n) for n in range(60)]


def listed(name, cards=CARDS, **parameters):
    dialect = dialects.get(name)
    documents = [dialect.model(card) for card in cards]
    return dialect.models(ModelList([card.name for card in cards], documents), parameters)


def test_openai_lists_every_model_on_one_page():
    document = listed("openai")
    assert (document["object"], len(document["data"])) == ("list", 60)
    assert document["data"][1] == {
        "id": "org/m1:x",
        "object": "model",
        "created": 1_700_000_001,
        "owned_by": "me",
    }


def test_plain_lists_like_openai():
    assert listed("plain") == listed("openai")


def test_a_model_of_anthropic():
    assert listed("anthropic")["data"][0] == {
        "type": "model",
        "id": "org/m0:x",
        "display_name": "Model 0",
        "created_at": "2023-11-14T22:13:20Z",
    }


def test_a_model_of_gemini_has_a_resource_name():
    card = ModelCard("org/m0:x", "Model 0", "me", 5, methods=("embedContent",))
    model = listed("gemini", [card])["models"][0]
    assert (model["name"], model["displayName"]) == ("models/org/m0:x", "Model 0")
    assert model["supportedGenerationMethods"] == ["embedContent"]


def ids(document):
    return [model["id"] for model in document["data"]]


def names(first, last):
    return [f"org/m{n}:x" for n in range(first, last)]


@pytest.mark.parametrize(
    ("parameters", "first", "last", "more"),
    [
        ({}, 0, 20, True),
        ({"limit": "5"}, 0, 5, True),
        ({"limit": "60"}, 0, 60, False),
        ({"limit": "1000"}, 0, 60, False),
        ({"after_id": "org/m9:x"}, 10, 30, True),
        ({"after_id": "org/m55:x"}, 56, 60, False),
        ({"after_id": "org/m39:x"}, 40, 60, False),
        ({"before_id": "org/m30:x"}, 10, 30, True),
        ({"before_id": "org/m5:x"}, 0, 5, False),
        ({"before_id": "org/m20:x"}, 0, 20, False),
        ({"before_id": "org/m30:x", "limit": "3"}, 27, 30, True),
        ({"after_id": "nobody"}, 0, 20, True),
    ],
)
def test_anthropic_has_pages_in_both_directions(parameters, first, last, more):
    document = listed("anthropic", **parameters)
    assert ids(document) == names(first, last)
    assert document["has_more"] is more
    assert (document["first_id"], document["last_id"]) == (ids(document)[0], ids(document)[-1])


def test_a_page_past_the_end_is_empty():
    document = listed("anthropic", after_id="org/m59:x")
    assert document == {"data": [], "has_more": False, "first_id": None, "last_id": None}
    assert listed("anthropic", cards=[])["data"] == []
    assert listed("gemini", cards=[])["models"] == []


def test_all_pages_of_anthropic_are_all_models():
    models, after = [], None
    while True:
        page = listed("anthropic", limit="7", **({"after_id": after} if after else {}))
        models += ids(page)
        after = page["last_id"]
        if not page["has_more"]:
            break
    assert models == names(0, 60)


def test_all_pages_of_gemini_are_all_models():
    models, token = [], None
    while True:
        page = listed("gemini", pageSize="7", **({"pageToken": token} if token else {}))
        models += [model["baseModelId"] for model in page["models"]]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert models == names(0, 60)


@pytest.mark.parametrize(("size", "count"), [(None, 50), ("1", 1), ("60", 60), ("1000", 60)])
def test_gemini_pages_have_the_requested_size(size, count):
    document = listed("gemini", **({"pageSize": size} if size else {}))
    assert len(document["models"]) == count
    assert ("nextPageToken" in document) == (count < 60)


@pytest.mark.parametrize(
    "bad",
    [
        "0",
        "-1",
        "1001",
        "x",
        "1.5",
        "1e2",
        "٣",
        "²",
        " 5",
        "9" * 30,
        "9" * 9 + "1",
    ],
)
@pytest.mark.parametrize(("name", "key"), [("anthropic", "limit"), ("gemini", "pageSize")])
def test_an_invalid_page_size_is_refused(name, key, bad):
    with pytest.raises(GatewayError) as raised:
        listed(name, **{key: bad})
    assert (raised.value.status, raised.value.param) == (400, key)


@pytest.mark.parametrize(("name", "key"), [("anthropic", "limit"), ("gemini", "pageSize")])
def test_an_empty_page_size_is_the_default(name, key):
    assert listed(name, **{key: ""}) == listed(name)


@pytest.mark.parametrize(
    ("environ", "query", "claimed"),
    [
        ({}, "", set()),
        ({"HTTP_ANTHROPIC_VERSION": "2023-06-01"}, "", {"anthropic"}),
        ({"HTTP_X_GOOG_API_KEY": "k"}, "", {"gemini"}),
        ({}, "key=k", {"gemini"}),
        ({}, "a=b&key=k", {"gemini"}),
        ({}, "monkey=k", set()),
        ({}, "a=key=k", set()),
        ({"HTTP_X_API_KEY": "k"}, "", set()),
    ],
)
def test_a_request_is_claimed_by_its_headers_and_query(environ, query, claimed):
    every = [dialects.get(name) for name in dialects.names()]
    assert {d.name for d in every if d.claims(environ, query)} == claimed
