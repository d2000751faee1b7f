"""What a caller chooses besides the model that a request names: members of the body that name other
models or choose a provider, and names of models that stand for others.

The law: a model that a member names is one that the caller may ask for, and that an upstream of the
requested model has under the same name. Everything else that the config of the upstream does not
permit is refused, and the refusal names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from engine.config.models import STAR
from engine.config.providers import CallerChoice
from engine.exchange.exchange import MISSING, Exchange
from engine.spec.schemas.refusal_messages import place
from engine.upstream.models.choice_search import search_of
from engine.upstream.models.model_catalog import Catalog, ServedModel
from engine.values.errors import GatewayError
from engine.values.json_spans import Ambiguous, JsonPath, refuse_repeated_names, spans
from engine.values.media_types import is_json
from engine.values.units import format_excerpt
from engine.values.wildcard import matches, star_text

_MAX_SHOWN = 200
_MAX_DEPTH = 10
_OBJECT = re.compile(rb"[\s\0\xef\xbb\xbf\xfe\xff]*+\{")
"""The start of a JSON object, in any encoding, with the marks and spaces that parsers skip."""
_CHOSEN = {"provider": "who serves the model", "settings": "models or tools that are not checked"}


def check_choices(exchange: Exchange, model: ServedModel, catalog: Catalog) -> None:
    """Check what a request chooses besides its `model`, and add the models that it names to
    the requested one. Raises GatewayError 400 or 403."""
    others: list[str] = []
    body = exchange.content.value
    if body is MISSING:
        _refuse_unread(exchange)
    for choice in model.choices:
        if choice.model:
            _check_name(exchange.model.name, model, choice, "model")
        elif isinstance(body, dict) and search_of(choice).may_find(exchange, body):
            _refuse_repeats(exchange, choice)
            for path, value in _find(exchange.content.value, choice.steps, ()):
                if value is not None:
                    others += _check_member(exchange, model, catalog, choice, path, value)
    if others:
        exchange.model.others = tuple(others)


def _check_member(
    exchange: Exchange,
    model: ServedModel,
    catalog: Catalog,
    choice: CallerChoice,
    path: JsonPath,
    value: Any,
) -> Iterator[str]:
    """The other models that a member names. Raises GatewayError 403."""
    if choice.chooses != "model":
        raise _refused(place(path), _CHOSEN[choice.chooses])
    for at, name in _names(value, path):
        if not isinstance(name, str):
            raise _refused(place(at), "models, and this is not the name of one")
        if name != exchange.model.name:
            _check_other(exchange, model, catalog, name, place(at))
            yield name


def _check_other(
    exchange: Exchange, model: ServedModel, catalog: Catalog, name: str, param: str
) -> None:
    """Refuse another model that the caller may not ask for, or that the upstreams of the requested
    one do not have under this name."""
    caller, entry = exchange.caller, catalog.find(name)
    if entry is None or (caller is not None and not caller.may_use(name)):
        excerpt = format_excerpt(name, _MAX_SHOWN)
        message = f"The model '{excerpt}' does not exist here, or the token may not use it"
        raise GatewayError(403, "model_not_allowed", f"{message} ('{param}').", param=param)
    upstreams = {target.upstream.name for group in model.groups for target in group.configured}
    same = [
        target
        for target in entry.groups[0].configured
        if target.upstream.name in upstreams and _sent_name(target.model, name, entry.name) == name
    ]
    if not same:
        raise _refused(
            param,
            f"'{format_excerpt(name, _MAX_SHOWN)}', which its upstream does not have by this name",
        )
    for choice in entry.choices:
        if choice.model:
            _check_name(name, entry, choice, param)


def _check_name(name: str, entry: ServedModel, choice: CallerChoice, param: str) -> None:
    """Refuse a name that stands for other models or chooses a provider, unless the config has it
    without a wildcard."""
    if "*" not in entry.name:
        return
    targets = (target for group in entry.groups for target in group.configured)
    for target_name in {_sent_name(target.model, name, entry.name) for target in targets}:
        if target_name and matches(target_name, choice.model):
            chosen = _CHOSEN.get(choice.chooses, "other models")
            raise _refused(
                param, f"{chosen}, as '{format_excerpt(name, _MAX_SHOWN)}' does ('{choice.model}')"
            )


def _sent_name(configured: str, name: str, entry: str) -> str:
    """The name of a requested model at a target; "" if the config has it."""
    if configured == STAR:
        return star_text(name, entry)
    return name if configured in ("", name) else ""


def _find(value: Any, steps: Sequence[str], path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """The values at a path in which `*` is any item, each with its place."""
    if not steps:
        yield path, value
    elif isinstance(value, dict) and steps[0] in value:
        yield from _find(value[steps[0]], steps[1:], (*path, steps[0]))
    elif isinstance(value, list) and steps[0] == "*":
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield from _find(item, steps[1:], (*path, index))


def _names(value: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """The names of models in a value, with their places: a text, a list of names, or an object with
    the member `model`, or in which every member is one."""
    if len(path) > _MAX_DEPTH:
        yield path, MISSING
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _names(item, (*path, index))
    elif isinstance(value, dict):
        members = {"model": value["model"]} if "model" in value else value
        for name, item in members.items():
            yield from _names(item, (*path, name))
    elif value is not None:
        yield path, value


def _refuse_repeats(exchange: Exchange, choice: CallerChoice) -> None:
    """Refuse a repeated name on the way to a member, and in its value."""
    if not is_json(exchange.content.media_type):
        return
    text = exchange.body.buffer
    try:
        for start, end in spans(text, choice.steps):
            refuse_repeated_names(text[start:end])
    except Ambiguous as error:
        param = place(choice.steps)
        message = f"'{param}', or a name in it, is given twice; send each name once."
        raise GatewayError(400, "invalid_value", message, param=param) from error


def _refuse_unread(exchange: Exchange) -> None:
    """Refuse a JSON object that was not read, because it has another media type."""
    unread = exchange.content.value is MISSING and exchange.body.size > 0
    if unread and _OBJECT.match(exchange.body.buffer):
        message = "The request body cannot be read: its Content-Type must be application/json."
        raise GatewayError(400, "unreadable_body", message)


def _refused(param: str, chosen: str) -> GatewayError:
    message = f"'{param}' chooses {chosen}. Requests through this gateway may not do that."
    return GatewayError(403, "choice_not_allowed", message, param=param)
