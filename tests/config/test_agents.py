"""What agents and SDKs need is data, and the manual's blocks are that data."""

from __future__ import annotations

import pytest

from engine.config import agents
from tests.support.agent_page import ADDRESS, MODELS, sections
from tests.support.each import each

AGENTS = [agents.read(name) for name in agents.names()]
ON_PAGE = [agent for agent in AGENTS if agent.title in sections() and agent.start]


@each("agent", ON_PAGE)
def test_the_manual_has_the_settings_of_each_agent(agent: agents.Agent) -> None:
    section = sections()[agent.title]
    filled = agent.at(ADDRESS, section.model())
    exports = "".join(f"export {name}={value}\n" for name, value in filled.variables.items())
    assert section.script() == f"{exports}{filled.start}\n"
    named = {block.name: block.text for block in section.blocks if block.name}
    assert named == {file.path: file.text for file in filled.files}


def test_each_agent_of_the_manual_is_there() -> None:
    assert len(ON_PAGE) == 11


@each("agent", AGENTS)
def test_every_mark_is_filled_in(agent: agents.Agent) -> None:
    filled = agent.at("https://gateway.example", MODELS["responses"])
    texts = [filled.path, *filled.variables.values(), *(file.text for file in filled.files)]
    assert all("@" not in text.replace("@ai-sdk", "") for text in [*texts, filled.start])
    assert filled.path.startswith("/v1")
    assert not filled.names_model


@pytest.mark.parametrize("text", ['a"b', "a b", "$(x)", "a'b", "a\nb", "a`b`", "a\\", "a;b"])
def test_a_text_that_a_shell_would_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be written into settings"):
        agents.read("claude").at("http://127.0.0.1:8080", text)
    with pytest.raises(ValueError, match="cannot be written into settings"):
        agents.read("claude").at(f"http://{text}", "m")
