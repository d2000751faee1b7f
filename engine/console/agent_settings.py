"""What agents and SDKs need to use this gateway, as `modelway connect` prints it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple

from engine.config import agents
from engine.config.agents import Agent, export_lines
from engine.console.chat_formats import RoutedFormat


class AgentSettings(NamedTuple):
    """What one agent or SDK needs: the text of its files and variables, and notes for its user."""

    title: str
    text: str
    notes: tuple[str, ...]


def agent_cards(formats: Sequence[RoutedFormat], base: str, models: Mapping[str, str]) -> str:
    """The settings of each agent and SDK as HTML, see `settings_of`."""
    return "".join(map(_card, settings_of(formats, base, models)))


def settings_of(
    formats: Sequence[RoutedFormat], base: str, models: Mapping[str, str]
) -> list[AgentSettings]:
    """The settings of each agent and SDK whose format is routed; `models` has a model for each
    format by its name. An address or a model that no file can have is left out."""
    return [_settings(agent) for agent in _agents(formats, base, models)]


def _agents(formats: Collection[RoutedFormat], base: str, models: Mapping[str, str]) -> list[Agent]:
    filled_in = []
    for name in agents.names():
        agent = agents.read(name)
        for routed in formats:
            if not agent.asks(routed.path, routed.stream_path):
                continue
            try:
                filled_in.append(agent.at(base, models[routed.name]))
            except ValueError:
                continue
    return sorted(filled_in, key=lambda agent: (not agent.start, agent.title.lower()))


def _settings(agent: Agent) -> AgentSettings:
    files = "".join(f"# {file.path}\n{file.text}\n" for file in agent.files)
    text = f"{files}{export_lines(agent.variables)}{agent.start}".rstrip()
    return AgentSettings(agent.title, text, tuple(agent.notes))


def _card(settings: AgentSettings) -> str:
    title = escape(settings.title)
    notes = "".join(f'<p class="muted note">{escape(note)}</p>' for note in settings.notes)
    return f"""<details class="card agent">
<summary>{title}</summary>
<div class="settings"><pre tabindex="0" role="region" aria-label="Settings of {title}"><code>\
{escape(settings.text)}</code></pre></div>
{notes}</details>
"""
