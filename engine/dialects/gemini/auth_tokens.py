"""Ephemeral tokens of the Live API: `POST /v1alpha/auth_tokens`.

As the vendor's SDKs have them: a token opens sessions until `newSessionExpireTime`, one minute from
now without it, and as often as `uses` says, once without it, any number of times with 0; resuming a
session is no use. Its sessions end at `expireTime`, half an hour from now without it. Both are at
most 20 hours away. `bidiGenerateContentSetup` is the setup of its sessions: alone it stands for all
that a client sends, with a `fieldMask` for these fields of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any

from engine.dialects.interface.client_secrets import (
    NAME,
    ClientSecretFormat,
    IssuedSecret,
    SecretRequest,
)
from engine.values.errors import invalid_value
from engine.values.trees import Json

_MODELS = "models/"
_MINUTE, _HOUR = 60.0, 3_600.0
_MAX_LIFETIME = 20 * _HOUR
_MAX_FIELDS, _MAX_DEPTH = 100, 10
_CONSTRAINED = "Constrained"
"""The end of the path of sessions with an ephemeral token of the vendor."""
_SETUP, _MASK = "bidiGenerateContentSetup", "fieldMask"


def _read(body: Json, now: float) -> SecretRequest:
    """The request in a body."""
    setup, mask, uses = body.get(_SETUP), body.get(_MASK), body.get("uses")
    if setup is not None and not isinstance(setup, dict):
        raise invalid_value(_SETUP, "an object")
    if mask is not None and not isinstance(mask, str):
        raise invalid_value(_MASK, "the names of fields, separated by commas")
    if uses is not None and (isinstance(uses, bool) or not isinstance(uses, int) or uses < 0):
        raise invalid_value("uses", "a number of sessions, 0 for any")
    end = _time(body, "expireTime", now, 30 * _MINUTE)
    begin = min(end, _time(body, "newSessionExpireTime", now, _MINUTE))
    fields = [each.strip() for each in (mask or "").split(",") if each.strip()]
    if len(fields) > _MAX_FIELDS or any(each.count(".") >= _MAX_DEPTH for each in fields):
        raise invalid_value(_MASK, f"at most {_MAX_FIELDS} fields of {_MAX_DEPTH} names each")
    model = setup.get("model") if setup else None
    if model is not None and not isinstance(model, str):
        raise invalid_value(f"{_SETUP}.model", "a text")
    session: Json = {"begin": begin, "end": end, "uses": 1 if uses is None else uses}
    session |= {"setup": setup} if setup else {}
    session |= {"mask": fields} if fields else {}
    return SecretRequest((model or "").removeprefix(_MODELS), max(1, ceil(end - now)), session)


def _time(body: Json, name: str, now: float, default: float) -> float:
    """A moment in Unix seconds."""
    value = body.get(name)
    if value is None:
        return now + default
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise invalid_value(name, "a time such as 2026-01-31T12:00:00Z") from error
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not now < seconds <= now + _MAX_LIFETIME:
        raise invalid_value(name, "a time within the next 20 hours")
    return seconds


def _write(secret: IssuedSecret) -> Json:
    """The response: the name is the token."""
    return {"name": f"{NAME}{secret.value}"}


def _first(session: Json, message: Json) -> Json:
    """The first message of a session with a token: its setup, or the fields of it that are
    locked."""
    setup, mask = session.get("setup"), session.get("mask")
    own = message.get("setup")
    own = own if isinstance(own, dict) else {}
    if mask:
        effective = own
        for field in mask:
            effective = _locked(effective, setup or {}, field.split("."))
    elif setup is None:
        effective = own
    else:
        effective = {**setup}
        handle = _resumption(own)
        resumption = setup.get("sessionResumption")
        if handle and isinstance(resumption, dict):
            effective["sessionResumption"] = {**resumption, "handle": handle}
        effective.setdefault("model", own.get("model"))
    return {"setup": {name: value for name, value in effective.items() if value is not None}}


def _locked(own: Json, locked: Json, path: list[str]) -> Json:
    """An object with one field of another one, or without it if that has none."""
    name, *rest = path
    others = {key: value for key, value in own.items() if key not in (name, _snake(name))}
    if not rest:
        return {**others, name: locked[name]} if name in locked else others
    below, above = own.get(name, own.get(_snake(name))), locked.get(name)
    below, above = (each if isinstance(each, dict) else {} for each in (below, above))
    return {**others, name: _locked(below, above, rest)}


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _resumption(setup: Json) -> str:
    """The handle of the session that a setup resumes, "" for a new one."""
    value: Any = setup.get("sessionResumption", setup.get("session_resumption"))
    handle = value.get("handle") if isinstance(value, dict) else None
    return handle if isinstance(handle, str) else ""


def _opening(session: Json) -> bytes:
    return b""  # the first message of the client is the setup


def _parameters(session: Json) -> Mapping[str, str | None]:
    return {}


AUTH_TOKENS = ClientSecretFormat(
    _read,
    _write,
    _opening,
    _parameters,
    owns=lambda session: "begin" in session,
    first=_first,
    path=lambda path: path.removesuffix(_CONSTRAINED),
    resumes=lambda message: bool(_resumption(message["setup"])),
    needs_model=False,
)
