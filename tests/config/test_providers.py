"""The files of engine/providers: each has the form of its schema, and is a value."""

import json

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource

from engine import dialects
from engine.config import providers
from engine.source import files
from engine.values.price import price_of
from tests.support.each import each

_FOLDER = files.SCHEMA.parent
NAMES = providers.names()


@pytest.fixture(scope="module")
def validator():
    schemas = {
        name: json.loads((_FOLDER / name).read_text("utf-8"))
        for name in ("gateway.schema.json", "provider.schema.json")
    }
    registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    return jsonschema.Draft202012Validator(schemas["provider.schema.json"], registry=registry)


class Text(yaml.CSafeLoader):
    """Dates are text, as in the product."""


Text.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith(":timestamp")]
    for first, pairs in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def raw(name):
    return yaml.load((files.PROVIDERS / f"{name}.yaml").read_text("utf-8"), Text)


@each("name", NAMES)
def test_a_file_has_the_form_of_the_schema(name, validator):
    assert [error.message for error in validator.iter_errors(raw(name))] == []


def test_a_file_of_another_form_is_refused(validator):
    right = raw("groq")
    for wrong in ({"upstreams": {}}, {"upstream": {"dialect": "openai"}}, {"date": "2026"}):
        assert not validator.is_valid({**right, **wrong})


OAUTH2 = {"token_url": "https://example.com/token", "client": "c", "secret": "KEY"}


@each(
    "credential, right",
    [
        ({"bearer": "KEY"}, True),
        ({"bearer": "sk-secret"}, False),
        ({"query": "key", "value": "KEY"}, True),
        ({"query": "key"}, False),
        ({"basic": {"user": "me", "password": "KEY"}}, True),
        ({"basic": {"user": "me", "password": "p"}}, False),
        ({"oauth2": OAUTH2}, True),
        ({"oauth2": {**OAUTH2, "secret": "s"}}, False),
        ({"aws": {}}, True),
        ({"unknown": {}}, False),
        ({}, False),
    ],
)
def test_a_credential_of_any_kind_has_its_form(credential, right, validator):
    file = {**raw("groq"), "credential": credential}
    assert validator.is_valid(file) is right


@each("name", NAMES)
def test_models_are_sorted_and_the_dialect_exists(name):
    provider = providers.read(name)
    assert list(provider.models) == sorted(provider.models)
    assert provider.upstream.get("dialect", "plain") in dialects.names()


def test_a_model_is_a_value():
    model = providers.read("groq").models["llama-3.3-70b-versatile"]
    assert (model.context, model.output, model.tasks) == (131072, 32768, ("chat",))
    assert model.capabilities == ("tools",)
    assert model.price == {"input": 0.59, "output": 0.79}
    assert not model.deprecated


@each("name", NAMES)
def test_prices_are_prices_of_the_product(name):
    for model in providers.read(name).models.values():
        assert model.price is None or price_of(model.price).input >= 0


def test_deployments_have_names_of_the_operator():
    assert providers.read("azure").own_names
    assert not providers.read("openai").own_names
