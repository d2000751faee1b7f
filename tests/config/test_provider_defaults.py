"""Entries of `upstreams` with a `provider`: what the provider's file adds, and what is missing."""

from msgspec import structs

from engine.config import providers
from engine.config.provider_defaults import credential_text, variable_values
from tests.support.configs import read_config
from tests.support.each import each


def upstream(text, environ=None):
    return read_config(f"upstreams: {{main: {{{text}}}}}\n", environ).upstreams["main"]


def test_an_entry_has_what_the_provider_has():
    main = upstream("provider: groq, credential: {bearer: a}")
    assert (main.url, main.dialect) == ("https://api.groq.com/openai/v1", "openai")
    assert (main.provider, main.variables) == ("groq", {})


def test_keys_of_the_entry_come_before_those_of_the_provider():
    main = upstream("provider: groq, url: http://host/v1, credential: {bearer: a}")
    assert (main.url, main.dialect) == ("http://host/v1", "openai")


def test_variables_are_filled_into_the_url():
    credential = "credential: {header: api-key, value: a}"
    main = upstream(f"provider: azure, variables: {{resource: ours}}, {credential}")
    assert main.url == "https://ours.openai.azure.com/openai/v1"
    assert main.variables == {"resource": "ours"}


def test_a_variable_of_the_url_is_not_needed_with_another_url():
    assert upstream("provider: azure, url: http://host").url == "http://host"


@each(
    "credential, text",
    [
        ({"bearer": "KEY"}, '{bearer: "${KEY}"}'),
        ({"header": "x-key", "value": "KEY"}, '{header: x-key, value: "${KEY}"}'),
        ({"aws": {}}, "{aws: {}}"),
        ({"basic": {"user": "me", "password": "P"}}, '{basic: {user: me, password: "${P}"}}'),
    ],
)
def test_a_credential_is_shown_as_it_is_written(credential, text):
    assert credential_text(credential) == text


def test_a_default_may_depend_on_another_variable():
    variables = {
        "place": providers.ProviderVariable("where", default="eu"),
        "host": providers.ProviderVariable(
            "its host", default="{place}.test", by="place", values={"all": "one.test"}
        ),
    }
    provider = structs.replace(providers.read("ollama"), variables=variables)
    assert variable_values(provider, {})["host"] == "eu.test"
    assert variable_values(provider, {"place": "all"})["host"] == "one.test"
    assert variable_values(provider, {"host": "mine.test"})["host"] == "mine.test"
