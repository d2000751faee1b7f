"""Tools over models: what is listed, and which arguments are taken."""

import pytest

from engine.mcp.listed_tool import InvalidArguments, context_tokens, list_entry
from engine.mcp.models.model_tool import MAX_IMAGE, model_tools
from engine.mcp.protocol.results import MAX_RESULT
from engine.values.caller import Caller
from tests.plan.test_model_tools import planned


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    plan = planned(tmp_path_factory.mktemp("models")).plan
    tools = {tool.name: tool for tool in model_tools(plan, plan.config.mcp["tools"])}
    assert [*tools] == ["chat", "embed"]
    return tools["chat"]


def test_it_is_listed_with_its_models(chat):
    listed = list_entry(chat)
    assert listed["inputSchema"]["properties"]["model"]["enum"] == ["talk", "any"]
    assert listed["inputSchema"]["required"] == ["prompt"]
    assert context_tokens(chat) > 50


def test_a_caller_sees_the_models_that_it_may_use(chat):
    assert chat.for_caller(Caller("a", models=("any",))).models == ("any",)
    assert chat.for_caller(Caller("a")) is chat
    assert chat.for_caller(None) is chat


def test_a_call_has_the_values_of_its_operation(chat):
    assert chat.values({"prompt": "a"}).body["model"] == "talk"
    with pytest.raises(InvalidArguments, match="is no model of this tool"):
        chat.for_caller(Caller("a", models=("any",))).values({"prompt": "a", "model": "talk"})


def test_images_may_be_larger_than_texts():
    assert MAX_IMAGE > MAX_RESULT
