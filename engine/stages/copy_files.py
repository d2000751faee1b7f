"""The stage that copies the files of a request to the upstream of its target, where they live
elsewhere (`objects.files`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from engine.dialects.interface.files import FileFormat
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.objects.file_copies import FILE
from engine.objects.id_opener import IdOpener
from engine.objects.id_places import IdPlace, JsonName, find
from engine.objects.sealed_ids import Identity, is_sealed, owner_of
from engine.process.preemption import PREEMPTION
from engine.spec.model_locations import ModelLocations
from engine.values.json_edit import apply_edits, edits
from engine.values.json_spans import JsonPath
from engine.values.trees import value_at

_GONE = (400, 403, 404)
"""The statuses of an upstream that may not have a copy any more."""


class CopyFile(Protocol):
    """Copies files (`app/routes/file_copier.py`)."""

    def copy(self, exchange: Exchange, sealed: str, identity: Identity, to: Holder, /) -> str:
        """The sealed id of a file's copy there. Raises GatewayError."""

    def forget(self, identity: Identity, to: Holder, /) -> None:
        """Forget a copy."""


class FileSettings(NamedTuple):
    """What the stage knows: the `places` of ids in bodies, what opens them, whose objects are, the
    files of the dialect, and the other spelling of a member."""

    places: Sequence[IdPlace]
    opener: IdOpener
    owner: str
    form: FileFormat
    json_name: JsonName | None = None


class _Id(NamedTuple):
    """An id in a body, sealed, with what it says."""

    path: JsonPath
    place: IdPlace
    sealed: str
    identity: Identity


def copy_files(settings: FileSettings, copier: CopyFile, locations: ModelLocations | None) -> Stage:
    """A stage before that which opens ids: it writes the ids of copies in the place of those of
    files that live at no target of the request. Raises GatewayError."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        targets: Sequence[Any] = exchange.model.targets  # Target, by `select_model`
        if not targets or exchange.content.value is MISSING:
            return following(exchange)
        upstreams = {target.upstream.name for target in targets}
        ids = [*_ids(exchange, settings)]
        away = [
            each
            for each in ids
            if each.place.kind == FILE and each.identity.holder.upstream not in upstreams
        ]
        holder = _destination(exchange, ids, upstreams) if away else None
        if holder is None:
            return following(exchange)  # what opens the ids says where the file lives
        PREEMPTION.end()  # requests from inside wait, and change what others see
        _write(exchange, away, settings.form, copier, holder)
        if locations is not None:
            locations.find(exchange)
        response = following(exchange)
        if response.status in _GONE:
            for each in away:
                copier.forget(each.identity, holder)
        return response

    return stage


def _ids(exchange: Exchange, settings: FileSettings) -> Iterator[_Id]:
    """The sealed ids in a JSON body. Raises GatewayError 404 for one that is not the caller's."""
    value, owner = exchange.content.value, owner_of(exchange.caller, settings.owner)
    for place in settings.places:
        for path in find(value, place.steps, settings.json_name):
            text = value_at(value, path)
            sealed = _sealed(text, place) if isinstance(text, str) else ""
            if sealed and (identity := settings.opener.identify(sealed, place.kind, owner)):
                yield _Id(path, place, sealed, identity)


def _sealed(text: str, place: IdPlace) -> str:
    """The sealed id in a value, "" for none. Where the vendor's ids have a prefix or stand in a URL
    the value may also be the id of another vendor, as it is."""
    parts = place.split(text)
    sealed = text if parts is None else place.prefix + parts[1]
    if is_sealed(sealed):
        return sealed
    return text if is_sealed(text) else ""


def _destination(exchange: Exchange, ids: Sequence[_Id], upstreams: set[str]) -> Holder | None:
    """Where the files of a request go: to the other objects that it names, or else to the first
    target that is asked in the format of the request; None without one."""
    for each in ids:
        if each.identity.holder.upstream in upstreams:
            return each.identity.holder
    targets: Sequence[Any] = exchange.model.targets
    for target in targets:
        if target.upstream.dialect == exchange.dialect.name:
            return Holder(target.upstream.name)
    return None


def _write(
    exchange: Exchange, ids: Sequence[_Id], form: FileFormat, copier: CopyFile, holder: Holder
) -> None:
    """Copy files, and write the ids of the copies in the body."""
    copies = {
        each.sealed: copier.copy(exchange, each.sealed, each.identity, holder) for each in ids
    }
    changes: dict[JsonPath, bytes | None] = {}
    value: Any = exchange.content.value
    for path, place, sealed, _ in ids:
        copy = copies[sealed]
        text = form.url + copy if place.after else copy.removeprefix(place.prefix)
        changes[path] = orjson.dumps(text)
        value_at(value, path[:-1])[path[-1]] = text
    body = bytes(exchange.body.buffer)
    exchange.body = Body(apply_edits(body, edits(body, changes)))
