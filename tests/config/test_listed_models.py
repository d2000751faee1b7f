"""Which models lists show: those of the config, and what providers have behind wildcards."""

import pytest

from engine.config.listed_models import ListedModels, listed_model
from engine.config.model_operation import ModelOperation
from engine.config.operations_by_model import ModelOperations
from tests.support.configs import read_config

UPSTREAMS = """\
upstreams:
  groq: {provider: groq, credential: {bearer: a}}
  together: {provider: together, credential: {bearer: a}}
  azure: {provider: azure, variables: {resource: ours}, credential: {header: api-key, value: a}}
  own: {url: http://host}
"""
LLAMA = "llama-3.3-70b-versatile"
SMALL = "LiquidAI/LFM2-24B-A2B"


def config(models):
    return read_config(f"{UPSTREAMS}models: {models}\n")


def names(models):
    return list(ListedModels(config(models)))


def test_a_wildcard_lists_what_its_provider_has():
    listed = ListedModels(config("{'*': {to: [{upstream: groq}]}}"))
    assert listed[LLAMA].provider_model is not None
    assert (listed[LLAMA].entry.name, listed[LLAMA].title) == ("*", LLAMA)
    assert list(listed) == sorted(listed)


def test_models_of_the_config_come_first_and_keep_their_entry():
    listed = ListedModels(
        config(
            f"{{'*': {{to: [{{upstream: groq}}]}}, z: {{to: [{{upstream: own}}]}}, "
            f"{LLAMA}: {{to: [{{upstream: own}}]}}}}"
        )
    )
    assert list(listed)[:2] == ["z", LLAMA]
    assert listed[LLAMA].provider_model is None


def test_a_wildcard_lists_only_names_that_it_covers_and_takes():
    models = "{'llama-*': {to: [{upstream: own}]}, '*': {to: [{upstream: groq}]}}"
    assert LLAMA not in names(models)
    assert "whisper-large-v3" in names(models)
    assert names("{'whisper-*': {to: [{upstream: groq}]}}") == [
        "whisper-large-v3",
        "whisper-large-v3-turbo",
    ]


def test_two_providers_behind_one_wildcard_list_what_both_have():
    both = names("{'*': {to: [{upstream: together}, {upstream: groq}]}}")
    assert both == ["openai/gpt-oss-120b", "openai/gpt-oss-20b"]
    assert names("{'*': {to: [{upstream: groq}, {upstream: own}]}}") == []


def test_a_target_with_a_name_of_its_own_lists_nothing():
    assert names(f"{{'*': {{to: [{{upstream: groq, model: {LLAMA}}}]}}}}") == []


def test_listed_names_have_the_prefix_of_their_wildcard():
    listed = ListedModels(config("{'groq/*': {to: [{upstream: groq, model: '*'}]}}"))
    assert all(name.startswith("groq/") for name in listed)
    assert listed[f"groq/{LLAMA}"].provider_model.name == LLAMA
    assert "groq/openai/gpt-oss-20b" in listed


def test_deployments_and_deprecated_models_are_not_listed():
    assert names("{'*': {to: [{upstream: azure}]}}") == []
    together = names("{'*': {to: [{upstream: together}]}}")
    assert together
    assert "deepseek-ai/DeepSeek-R1" not in together


def test_a_model_that_is_in_no_list_has_the_facts_of_its_provider():
    both = config("{'*': {to: [{upstream: groq}, {upstream: own}]}}")
    assert listed_model(LLAMA, both.models["*"], both).provider_model.context == 131072
    assert listed_model("newer", both.models["*"], both).provider_model is None
    prefixed = config("{'x/*': {to: [{upstream: groq, model: '*'}]}}")
    assert listed_model(f"x/{LLAMA}", prefixed.models["x/*"], prefixed).provider_model.name == LLAMA


@pytest.mark.parametrize(
    ("to", "limits"),
    [
        (f"{{upstream: groq, model: {LLAMA}}}", (131072, 32768)),
        # The smallest limits of all targets, if all are known.
        (
            f"{{upstream: groq, model: {LLAMA}}}, {{upstream: together, model: {SMALL}}}",
            (32768, 32768),
        ),
        (f"{{upstream: groq, model: {LLAMA}}}, {{upstream: own}}", (None, None)),
        ("{upstream: groq, model: whisper-large-v3}", (None, None)),
    ],
)
def test_the_limits_of_a_model_of_the_config(to, limits):
    model = ListedModels(config(f"{{mine: {{to: [{to}]}}}}"))["mine"]
    assert (model.context, model.output) == limits
    assert model.provider_model is None


def test_a_model_has_the_operations_of_its_task():
    read = config("{'*': {to: [{upstream: groq}]}}")
    operations = ModelOperations(
        read.models,
        read.upstreams,
        [
            ModelOperation("openai.chat", "openai", task="chat"),
            ModelOperation("openai.transcribe", "openai", task="transcription"),
            ModelOperation("openai.other", "openai"),
        ],
    )
    listed = ListedModels(read)
    assert [o.id for o in listed[LLAMA].operations(operations)] == ["openai.chat", "openai.other"]
    whisper = listed["whisper-large-v3"].operations(operations)
    assert [o.id for o in whisper] == ["openai.transcribe", "openai.other"]


def test_a_model_is_made_when_it_is_asked_for():
    listed = ListedModels(config("{a: {to: [{upstream: own}]}, b: {to: [{upstream: own}]}}"))
    assert (len(listed), list(listed), "c" in listed) == (2, ["a", "b"], False)
    assert listed["a"] == listed["a"]
    assert listed["a"] is not listed["a"]
    assert [model.name for model in listed.values()] == ["a", "b"]
