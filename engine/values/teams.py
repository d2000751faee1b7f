"""The teams of a config, and the callers that are their members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.values.caller import Caller, Team

MAX_LEVELS = 3
"""The most teams above one another, the lowest included."""


class Teams:
    """The declared teams by their names. Those of an invalid config may lack a parent, or be above
    themselves."""

    def __init__(self, teams: Mapping[str, Team]) -> None:
        self.by_name = teams
        self._lines = {name: self.line(name) for name in teams}

    def line(self, name: str) -> tuple[Team, ...]:
        """The team of this name and those above it, the lowest first; empty for a name that is only
        a label."""
        line: list[Team] = []
        team = self.by_name.get(name)
        while team is not None and team not in line:
            line.append(team)
            team = self.by_name.get(team.parent)
        return tuple(line)

    def member(self, caller: Caller) -> Caller:
        """The caller, with the teams that its token names."""
        line = self._lines.get(caller.team)
        return caller if line is None else replace(caller, teams=line)


NO_TEAMS = Teams({})
