"""What targets cannot be asked, as the translations of a config show it."""

import pytest

from engine.offline.check.translation_limits import formats, note_limits, refused_features
from engine.source.problem import Level
from tests.support.translating import CONFIG, MODELS, translating


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return translating(tmp_path_factory.mktemp("project"))


def refused_names(result, name, language):
    """The names of the features that the first target of a model refuses callers of a language."""
    plan = result.plan
    (targets,) = (o.targets for o in formats(name, plan.model_operations()) if o[0] == language)
    features = refused_features(language, targets[0], plan.config.models[targets[0].entry])
    return [feature.name for feature in features]


def test_a_model_is_listed_in_every_format_once(result):
    operations = result.plan.model_operations()
    listed = [language for language, _ in formats("claude-model", operations)]
    assert sorted(listed) == sorted(MODELS)
    assert [language for language, _ in formats("native-model", operations)] == ["messages"]


@pytest.mark.parametrize("language", MODELS)
def test_nothing_is_refused_in_the_format_of_the_upstream(result, language):
    assert refused_names(result, MODELS[language], language) == []


def test_what_the_other_format_has_no_field_for_is_refused(result):
    names = refused_names(result, "claude-model", "chat_completions")
    assert {"logit_bias", "n", "input_audio"} <= set(names)
    assert not {"temperature", "tools", "images"} & set(names)


def test_what_may_be_dropped_is_not_refused(tmp_path):
    config = CONFIG.replace(
        "  claude-model: {", "  claude-model: {drop: [logit_bias, 'messages.*'], "
    )
    names = refused_names(translating(tmp_path, config), "claude-model", "chat_completions")
    assert not {"logit_bias", "input_audio"} & set(names)
    assert "n" in names


def test_the_limits_of_every_model_are_noted_by_format(tmp_path):
    result = translating(tmp_path)
    note_limits(result)
    notes = [problem for problem in result.problems if problem.code == "MW425"]
    assert {note.level for note in notes} == {Level.INFO}
    (note,) = (n for n in notes if "'claude-model' called in chat_completions" in n.message)
    assert "refuses sampling: " in note.message
    assert "messages for upstream 'anthropic'" in note.hint
    (note,) = (n for n in notes if "'lossy-model' called in responses" in n.message)
    assert "loses" in note.message
    assert not any("'native-model'" in note.message for note in notes)


def test_the_parameters_of_a_family_are_those_of_its_provider(tmp_path):
    config = CONFIG.replace("model: gpt-4o", "model: gpt-5-mini")
    names = refused_names(translating(tmp_path, config), "chat-model", "messages")
    assert "stop_sequences" in names
    dropping = config.replace("  chat-model:\n", "  chat-model:\n    drop: [stop_sequences]\n")
    (tmp_path / "dropping").mkdir()
    names = refused_names(translating(tmp_path / "dropping", dropping), "chat-model", "messages")
    assert "stop_sequences" not in names
