"""Client credentials of OAuth 2.0 (RFC 6749 section 4.4)."""

from __future__ import annotations

import base64
import json
import math
import ssl
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import IO, Any
from urllib.parse import quote_plus, urlencode

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.values.trees import Section

_SECONDS = 10.0
_MAX_ANSWER = 1_000_000
"""The most bytes of an answer that are read."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the client's secret to another server."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def fetch(options: Section) -> tuple[dict[str, str], float | None]:
    """The options are those of `engine/credentials/oauth2.py`."""
    url = options["token_url"]
    request = urllib.request.Request(url, _form(options), _headers(options), method="POST")  # noqa: S310 - http or https
    context = ssl.create_default_context(cafile=options.get("ca"))
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))
    now = time.time()
    try:
        with opener.open(request, timeout=_SECONDS) as response:
            return _token(_document(response), url, now)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error, url) from None
    except (HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        words = "the token server cannot be reached"
        raise CredentialUnavailable(words, f"{url}: {reason}") from error


def _form(options: Section) -> bytes:
    form = {"grant_type": "client_credentials"}
    form |= {key: options[key] for key in ("scope", "audience") if key in options}
    if options["method"] == "body":
        form |= {"client_id": options["client"], "client_secret": options["secret"]}
    return urlencode(form).encode()


def _headers(options: Section) -> dict[str, str]:
    headers = {"Accept": "application/json", "User-Agent": "modelway"}
    if options["method"] == "basic":
        # RFC 6749 2.3.1: both are form-encoded first.
        pair = f"{quote_plus(options['client'])}:{quote_plus(options['secret'])}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return headers


def _document(response: IO[bytes]) -> Any:
    try:
        return json.loads(response.read(_MAX_ANSWER))
    except ValueError:
        return None


def _token(document: Any, url: str, now: float) -> tuple[dict[str, str], float | None]:
    token = document.get("access_token") if isinstance(document, dict) else None
    if not isinstance(token, str) or not token or not (token.isascii() and token.isprintable()):
        words = "the token server's answer has no access token"
        raise CredentialUnavailable(words, url)
    kind = str(document.get("token_type", "Bearer"))
    if kind.lower() != "bearer":
        words = f"the token server gave a token of type '{kind[:40]}', which is not Bearer"
        raise CredentialUnavailable(words, url, lasting=True)
    try:
        seconds = float(document["expires_in"]) if "expires_in" in document else None
    except (TypeError, ValueError):
        seconds = None
    if seconds is None or not math.isfinite(seconds):  # float() and JSON accept NaN
        return {"token": token}, None
    return {"token": token}, now + seconds


def _refusal(error: urllib.error.HTTPError, url: str) -> CredentialUnavailable:
    """An error response of the token server (RFC 6749 section 5.2)."""
    document = _document(error)
    reason = ""
    if isinstance(document, dict):
        texts = (document.get(name) for name in ("error", "error_description"))
        reason = ": ".join(text for text in texts if isinstance(text, str))
    words = f"the token server answered {error.code}" + (f" {reason}" if reason else "")
    lasting = 400 <= error.code < 500 and error.code not in (408, 429)
    return CredentialUnavailable(words[:300], url, lasting=lasting)
