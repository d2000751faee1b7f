"""An upstream as a value: what its callers could choose besides the model, and must not."""

from engine.config import providers
from engine.config.upstreams import known_choices, unknown_choices, unpermitted
from tests.support.configs import read_config
from tests.support.each import each


def choices(permitted):
    text = f"upstreams: {{main: {{url: http://host, provider: openrouter{permitted}}}}}\n"
    return [choice.name for choice in read_config(text).upstreams["main"].choices]


def test_what_the_config_does_not_permit_callers_must_not_choose():
    known = choices("")
    assert "models" in known
    assert choices(", caller_choices: [models]") == [name for name in known if name != "models"]
    assert choices(", caller_choices: ['*']") == []


def names(provider="", url="https://models.example.com/v1", dialect=""):
    return [choice.name for choice in known_choices(provider, url, dialect)]


@each(
    ("upstream", "expected"),
    [
        ({"provider": "openrouter"}, "preset"),
        ({"url": "https://openrouter.ai/api/v1", "dialect": "openai"}, "preset"),
        ({"url": "https://eu.bedrock.example.com", "dialect": "anthropic"}, "fallbacks"),
        ({"url": "https://bedrock-runtime.us-east-1.amazonaws.com"}, "arn:*"),
        ({"url": "https://ours.openai.azure.com/openai/v1"}, "/tools/*/model"),
        ({"dialect": "gemini"}, "/generationConfig/routingConfig"),
        ({"url": "http://127.0.0.1:3000/v1", "dialect": "openai"}, "lora_path"),
        ({"url": "http://127.0.0.1:3000/v1", "dialect": "anthropic"}, "fallbacks"),
        ({"provider": "groq"}, "/compound_custom/models"),
    ],
)
def test_choices_are_those_of_the_provider_the_host_or_the_dialect(upstream, expected):
    assert expected in names(**upstream)


@each("upstream", [{}, {"url": "http://[::1"}, {"dialect": "plain"}, {"provider": "voyage"}])
def test_of_another_server_nothing_is_known(upstream):
    assert names(**upstream) == []


def test_a_config_permits_choices_by_their_names():
    known = known_choices("openrouter", "", "")
    left = [choice.name for choice in unpermitted(known, ["provider", "*:nitro"])]
    assert "models" in left
    assert {"provider", "*:nitro"}.isdisjoint(left)
    assert unpermitted(known, ["*"]) == ()


def test_a_name_that_no_choice_has_is_found():
    known = known_choices("groq", "", "")
    ((index, message, hint),) = unknown_choices(["/compound_custom/models", "models"], known)
    assert (index, message) == (1, "callers of this upstream have no choice 'models'")
    assert "/compound_custom/models" in hint
    ((_, _, hint),) = unknown_choices(["models"], ())
    assert hint == "remove it: they can choose nothing here"


def test_every_choice_has_its_source_and_a_date():
    choices = [(name, c) for name in providers.names() for c in providers.read(name).choices]
    assert len(choices) > 40
    for name, choice in choices:
        assert choice.url.startswith("https://"), name
        assert choice.date >= "2026-11", name
        assert bool(choice.member) != bool(choice.model), name
