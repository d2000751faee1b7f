"""The facts of a person: of all claims, those that the config reads.

An entry of `callers.jwt` reads them as it reads the claims of a token, but each at a member that is
named as its place, so that a session carries nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from engine.config.callers import JwtIssuer
from engine.values.json_pointer import ClaimPlace
from engine.values.trees import Json
from engine.values.wildcard import matches


def places_of(entries: Sequence[JwtIssuer], carried: Iterable[str]) -> list[ClaimPlace]:
    """The places of the claims that decide who a person is, and of those `carried` with a
    caller."""
    places = {place.text: place for entry in entries for place in entry.claims.values()}
    places |= {place.text: place for entry in entries for place, _ in entry.require}
    return [*(places | {text: ClaimPlace.parse(text) for text in carried}).values()]


def facts_of(
    claims: Mapping[str, Any], places: Sequence[ClaimPlace], entries: Sequence[JwtIssuer]
) -> Json:
    """The values at the places. Of a list that is only compared with what entries require, such as
    hundreds of groups, it has the values that one of them requires."""
    mapped = {place.text for entry in entries for place in entry.claims.values()}
    allowed = [(place.text, each) for entry in entries for place, each in entry.require]
    facts: Json = {}
    for place in places:
        value = place.read(claims)
        if isinstance(value, list) and place.text not in mapped:
            patterns = [p for text, each in allowed if text == place.text for p in each]
            value = [v for v in value if any(matches(str(v), pattern) for pattern in patterns)]
        if value is not None:
            facts[place.text] = value
    return facts


def entry_of_facts(entry: JwtIssuer, client_id: str) -> JwtIssuer:
    """An entry that reads facts, of ID tokens for this client."""
    return replace(
        entry,
        audience=(client_id,),
        leeway=0.0,
        claims={field: _member(place) for field, place in entry.claims.items()},
        require=tuple((_member(place), values) for place, values in entry.require),
    )


def _member(place: ClaimPlace) -> ClaimPlace:
    return ClaimPlace(place.text, (place.text,))
