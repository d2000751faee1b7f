"""The gateway's own answers, which operators name with `answer:` at a route. ONE FILE = ONE ANSWER:
it defines `ANSWER`, an `OwnAnswer`, and stands in `ANSWERS`; no other module names it. Read
`own_answer.py` first.
"""

from __future__ import annotations

from typing import Any

from engine.edge.answers import client_secrets, models, responses, usage, usage_requests
from engine.edge.answers.own_answer import OwnAnswer

ANSWERS: tuple[OwnAnswer, ...] = (
    models.ANSWER,
    client_secrets.ANSWER,
    responses.ANSWER,
    usage.ANSWER,
    usage_requests.ANSWER,
)


def names() -> list[str]:
    """The names of all own answers."""
    return [answer.name for answer in ANSWERS]


def get(name: str) -> OwnAnswer | None:
    """The own answer of that name, None if there is none."""
    return next((answer for answer in ANSWERS if answer.name == name), None)


def schema() -> dict[str, Any]:
    """The JSON Schema of the key `answer`."""
    summaries = "; ".join(f"`{answer.name}`: {answer.summary}" for answer in ANSWERS)
    choice = {"const": names()[0]} if len(ANSWERS) == 1 else {"enum": names()}
    return {"description": f"The gateway answers itself. {summaries}.", **choice}
