"""The sign-in to the pages in one worker: the issuer's entries as those of ID tokens, its provider,
and how that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from engine.app.services.bearers import FETCH_SECONDS, MAX_DOCUMENT, Source, source_of
from engine.app.services.plan_needs import carried_claims
from engine.callers.jwt.bearers import Bearers
from engine.callers.jwt.key_set import KeySet
from engine.callers.sign_in.cookie_sessions import PageSessions
from engine.callers.sign_in.page_sign_in import PageSignIn
from engine.callers.sign_in.person_claims import places_of
from engine.callers.sign_in.provider import Answer, Provider, Send
from engine.callers.sign_in.refusal import ProviderUnavailable
from engine.config.callers import discovery_url
from engine.config.console import CALLBACK_PATH
from engine.plan.plan import Plan
from engine.upstream.service_calls import FetchFailed, exchange_documents


def send(method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> Answer:
    """Ask a provider. Raises ProviderUnavailable."""
    try:
        answer = exchange_documents(
            method, url, headers, body, seconds=FETCH_SECONDS, max_size=MAX_DOCUMENT
        )
    except FetchFailed as error:
        raise ProviderUnavailable(str(error)) from error
    return Answer(*answer)


def sign_in_of(
    plan: Plan,
    key_sets: Mapping[Source, KeySet],
    clock: Callable[[], float],
    send: Send = send,
) -> PageSignIn:
    """The sign-in of a plan whose config has one."""
    config, base_url = plan.config.console.sign_in, plan.config.server.base_url
    assert config is not None
    entries = [entry for entry in plan.config.jwt if entry.issuer == config.issuer]
    sets = [key_sets[source_of(entry)] for entry in entries]
    of_client = [replace(entry, audience=(config.client_id,)) for entry in entries]
    currency, carried = plan.config.currency, carried_claims(plan)
    url = next((e.discovery for e in entries if e.discovery), discovery_url(config.issuer))
    sessions = PageSessions(
        *(config, base_url, entries, currency, clock),
        teams=plan.config.teams,
        carried=carried,
    )
    return PageSignIn(
        config,
        base_url,
        entries,
        places_of(entries, carried),
        Provider(config, url, base_url + CALLBACK_PATH, send),
        Bearers(of_client, sets, currency, clock).claims,
        sessions,
        clock,
    )
