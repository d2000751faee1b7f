#!/usr/bin/env bash
# Falcon 4.4.0: the header of a part of a form is lost if there is no space behind its colon.
#
# The space is optional: a field is a name, a colon and a body (RFC 5322, 2.2; RFC 2045, 3, and RFC 7578, 4.2, build on
# it). Of a part with `Content-Disposition:form-data; name="model"` the name is None, and one with
# `Content-Type:application/json` is text/plain, so that its `get_media()` does not read JSON. What the caller sent in
# the field `model` is nowhere, without an error. Flask 3.1.3, Starlette 1.10.0 and Django 5.2.19 read both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="falcon==4.4.0 flask==3.1.3 starlette==1.10.0 python-multipart==0.0.34 django==5.2.19"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import io

import falcon
import falcon.testing
import flask
from django.conf import settings
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http.multipartparser import MultiPartParser
from starlette.requests import Request

MEDIA_TYPE = "multipart/form-data; boundary=b"
PART = '--b\r\nContent-Disposition:{0}form-data; name="model"; filename="m"\r\nContent-Type:{0}application/json\r\n\r\n7'
settings.configure()


def falcon_part(body: bytes) -> tuple:
    request = falcon.testing.create_req(headers={"Content-Type": MEDIA_TYPE}, body=body)
    part = next(iter(request.get_media()))
    return part.name, part.content_type


def flask_part(body: bytes) -> tuple:
    with flask.Flask("flask").test_request_context(method="POST", data=body, content_type=MEDIA_TYPE):
        [(name, file)] = flask.request.files.items()
        return name, file.content_type


def starlette_part(body: bytes) -> tuple:
    async def read() -> tuple:
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict:
            return messages.pop()

        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", MEDIA_TYPE.encode())]}
        [(name, file)] = (await Request(scope, receive).form()).items()
        return name, file.content_type

    return asyncio.run(read())


def django_part(body: bytes) -> tuple:
    meta = {"CONTENT_TYPE": MEDIA_TYPE, "CONTENT_LENGTH": str(len(body))}
    handler = MemoryFileUploadHandler()
    [(name, file)] = MultiPartParser(meta, io.BytesIO(body), [handler]).parse()[1].items()
    return name, file.content_type


for space in (" ", ""):
    body = (PART.format(space) + "\r\n--b--\r\n").encode()
    seen = [read(body) for read in (falcon_part, flask_part, starlette_part, django_part)]
    print("with a space:" if space else "without:", *seen)
    right = ("model", "application/json")
    assert seen == [right if space else (None, "text/plain"), right, right, right], seen
PYTHON
