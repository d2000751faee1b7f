"""`teams:` of gateway.yaml: who shares rights and limits, and which callers are their members."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from engine.config.tokens import TokenReader
from engine.source.problem import Findings, Path, Source
from engine.source.suggestion import did_you_mean
from engine.values.caller import Caller, Team
from engine.values.trees import Json, Section

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


class TeamReader:
    """Reads the entries of `teams:`; `tokens` reads the rights, which are written as those of a
    token. Of the names in `invalid` nothing more is said."""

    def __init__(
        self, source: Source, findings: Findings, tokens: TokenReader, invalid: Collection[str]
    ) -> None:
        self._source = source
        self._findings = findings
        self._tokens = tokens
        self._invalid = invalid

    def teams(self, entries: Json) -> Teams:
        """The teams by their names."""
        teams = Teams({name: self._team(name, entry) for name, entry in entries.items()})
        for name, team in teams.by_name.items():
            self._check(team, teams, ("teams", name, "in"))
        return teams

    def _team(self, name: str, entry: Section) -> Team:
        rights = self._tokens.caller({**entry, "name": name}, ("teams", name))
        parent = entry.get("in", "")
        return Team(name, rights.models, rights.operations, rights.limits, parent, rights.regions)

    def _check(self, team: Team, teams: Teams, at: Path) -> None:
        """Note a parent that does not exist, teams in a circle, and too many levels."""
        if team.parent and team.parent not in teams.by_name:
            if not {team.parent, "*"} & set(self._invalid):
                hint = did_you_mean(team.parent, teams.by_name)
                self._error(at, f"unknown team '{team.parent}'", hint)
            return
        line = teams.line(team.name)
        if line[-1].parent == team.name:
            names = " in ".join(f"'{each.name}'" for each in (*line, team))
            hint = "remove `in` from the team that is above the others"
            self._error(at, f"teams are in a circle: {names}", hint)
        elif len(line) == MAX_LEVELS + 1:
            names = " in ".join(f"'{each.name}'" for each in line)
            message = f"{len(line)} teams are in one another, {MAX_LEVELS} at most: {names}"
            self._error(at, message, "put this team into one that is above")

    def _error(self, at: Path, message: str, hint: str) -> None:
        self._findings.error(self._source, at, "MW485", message, hint)
