"""The lists of models of a worker: by dialect, by the models of a token, made once."""

import orjson

from engine.config.listed_models import ListedModel
from engine.values.caller import Caller
from tests.support.loop_turns import loop_turns
from tests.support.model_lists import ANTHROPIC, OPENAI, visible_models


def ids(among, dialect, caller=None):
    return [entry["id"] for entry in orjson.loads(among.whole_list(dialect, caller))["data"]]


def test_a_list_has_the_models_of_its_dialect_that_the_caller_may_use():
    among = visible_models("both", gpt="openai", claude="anthropic")
    assert ids(among, OPENAI) == ["both", "gpt"]
    assert ids(among, ANTHROPIC) == ["both", "claude"]
    assert ids(among, OPENAI, Caller("a", ("gpt",))) == ["gpt"]


def test_a_list_is_made_once_for_each_dialect_and_set_of_models():
    among = visible_models("one", "two")
    first = among.whole_list(OPENAI, Caller("a", ("one",)))
    assert among.whole_list(OPENAI, Caller("b", ("one",))) is first
    assert among.whole_list(OPENAI, Caller("c", ("two",))) is not first


def test_a_model_of_a_wildcard_is_found_in_its_dialect_only():
    among = visible_models(**{"gpt-*": "openai"})
    assert among.find("gpt-9", OPENAI).name == "gpt-9"
    assert among.find("gpt-9", ANTHROPIC) is None
    assert [operation.id for operation in among.operations_of("gpt-9")] == [
        "openai.chat",
        "openai.embed",
    ]
    assert among.operations_of("claude") is None


def test_the_operations_of_equal_models_are_looked_through_once(monkeypatch):
    looked_through = []
    operations = ListedModel.operations

    def count(self, every):
        looked_through.append(self.name)
        return operations(self, every)

    monkeypatch.setattr(ListedModel, "operations", count)
    among = visible_models("one", "two", "three", claude="anthropic")
    assert len(ids(among, OPENAI)) == 3
    assert looked_through == ["one", "claude"]


def test_the_loop_turns_while_a_list_is_made():
    among = visible_models(*(f"m{number}" for number in range(20)))
    assert loop_turns(lambda: among.whole_list(OPENAI, None)) >= 20
    assert loop_turns(lambda: among.whole_list(OPENAI, None)) <= 1
