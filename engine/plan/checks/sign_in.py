"""Checks of `console.sign_in`: a provider whom nobody maps, an address that nobody can come back
to, keys that can be guessed, and pages that take no session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from engine.config.callers import JwtIssuer, discovery_url
from engine.config.config import Config
from engine.config.console import CALLBACK_PATH, PLAYGROUND, TOOLS, SignInConfig
from engine.plan.route import Route
from engine.source.problem import Findings, Level, Path

_AT = ("console", "sign_in")
_MIN_KEY, _MIN_CHARACTERS = 32, 10
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OF_SCOPE = {
    "email": ("email", "email_verified"),
    "profile": (
        *("name", "family_name", "given_name", "middle_name", "nickname", "preferred_username"),
        *("profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale"),
        "updated_at",
    ),
    "address": ("address",),
    "phone": ("phone_number", "phone_number_verified"),
}
"""The claims of the standard scopes (OpenID Connect Core 1.0, 5.4)."""

_Note = tuple[Path, Level, str, str, str]
"""A place below `console.sign_in`, a level, a code, a message and a hint."""


def check_sign_in(config: Config, routes: Sequence[Route], findings: Findings) -> None:
    """Note what keeps people from signing in, and what lets in more than is meant."""
    sign_in = config.console.sign_in
    if sign_in is None:
        return
    entries = [entry for entry in config.jwt if entry.issuer == sign_in.issuer]
    notes = [
        *_provider(sign_in, entries),
        *_base_url(config.server.base_url),
        *_keys(sign_in),
        *_scopes(sign_in, entries),
        *_audience(sign_in, entries),
        *_use(config, routes),
    ]
    for at, level, code, message, hint in notes:
        findings.note(config.source, (*_AT, *at), level, code, message, hint)


def _provider(sign_in: SignInConfig, entries: Sequence[JwtIssuer]) -> Iterator[_Note]:
    """A provider that no entry maps, or whose metadata could be changed on their way."""
    at = ("issuer",)
    if not entries:
        message = f"nobody who signs in at '{sign_in.issuer}' would be a caller"
        hint = f"write an entry with issuer: {sign_in.issuer} under callers.jwt"
        yield at, Level.ERROR, "MW550", message, hint
    url = next((e.discovery for e in entries if e.discovery), discovery_url(sign_in.issuer))
    if not _is_safe(url):
        message = f"the provider cannot be found: its metadata would be at '{url}'"
        hint = "write the issuer as https://..., as its metadata have it"
        yield at, Level.ERROR, "MW553", message, hint


def _base_url(base_url: str) -> Iterator[_Note]:
    """An address to which a provider sends nobody back."""
    if not base_url:
        message = "the provider does not know where to send people back to"
        hint = "write server: {base_url: https://models.example.com}, and at the provider "
        hint += f"https://models.example.com{CALLBACK_PATH}"
        yield (), Level.ERROR, "MW551", message, hint
    elif not _is_safe(base_url):
        message = f"people would sign in at '{base_url}', where their sessions can be read"
        hint = "write server.base_url with https:// (http:// is for localhost only)"
        yield (), Level.ERROR, "MW551", message, hint


def _keys(sign_in: SignInConfig) -> Iterator[_Note]:
    """Keys that can be guessed, stand there twice, or none."""
    hint = "`openssl rand -hex 32` makes one; write it into a variable, not into the file"
    if not sign_in.keys:
        yield ("keys",), Level.ERROR, "MW552", "there is no key to seal sessions with", hint
    for index, key in enumerate(sign_in.keys):
        if len(key) < _MIN_KEY or len(set(key)) < _MIN_CHARACTERS:
            message = f"a key has at least {_MIN_KEY} characters, chosen at random"
            yield ("keys",), Level.ERROR, "MW552", message, hint
        elif key in sign_in.keys[:index]:
            message = "a key is in the list twice"
            yield ("keys",), Level.ERROR, "MW552", message, "remove it; the first key seals"


def _scopes(sign_in: SignInConfig, entries: Sequence[JwtIssuer]) -> Iterator[_Note]:
    """Scopes without that of OpenID Connect, or without one of a claim that is read."""
    at = ("scopes",)
    if "openid" not in sign_in.scopes:
        message = "without the scope 'openid' the provider sends no ID token"
        yield at, Level.ERROR, "MW554", message, "add openid"
    places = [place for entry in entries for place in entry.claims.values()]
    places += [place for entry in entries for place, _ in entry.require]
    for scope, claims in _OF_SCOPE.items():
        names = sorted({str(p.steps[0]) for p in places if p.steps[0] in claims})
        if names and scope not in sign_in.scopes:
            message = f"callers.jwt reads the claim '{names[0]}', which comes with '{scope}'"
            yield at, Level.WARNING, "MW555", message, f"add {scope}"


def _audience(sign_in: SignInConfig, entries: Sequence[JwtIssuer]) -> Iterator[_Note]:
    """ID tokens that the API would take for tokens of callers."""
    if any(sign_in.client_id in entry.audience for entry in entries):
        message = f"'{sign_in.client_id}' is also an audience in callers.jwt: whoever gets an ID "
        message += "token of the pages could call the API with it"
        hint = "give the API an audience of its own"
        yield ("client_id",), Level.WARNING, "MW556", message, hint


def _use(config: Config, routes: Sequence[Route]) -> Iterator[_Note]:
    """A sign-in that no page uses."""
    console = config.console
    answers = [route.answer for route in routes if route.answer is not None]
    is_used = (
        console.serves(PLAYGROUND)
        or (console.serves(TOOLS) and bool(config.mcp))
        or (console.enabled and any(answer.is_for_pages for answer in answers))
    )
    if not is_used:
        message = "no page takes sessions: the playground, the tools and usage are off"
        hint = "switch a page on under 'console:', or remove this"
        yield (), Level.WARNING, "MW557", message, hint


def _is_safe(url: str) -> bool:
    """Whether what is read and sent at a URL is behind TLS, or stays on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    )
