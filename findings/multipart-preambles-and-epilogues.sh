#!/usr/bin/env bash
# Starlette 1.10.0, Tornado 6.6.1, Sanic 25.12.1, multipart 2.0.1, streaming-form-data 2.1.0 and requests-toolbelt
# 1.0.0: bodies of multipart/form-data that a reader must accept are refused, or read without their fields.
#
# Before the first boundary there may be a preamble and behind the last one an epilogue, which are to be ignored. Behind
# a boundary there may be spaces, which a sender does not write but a transport may add, and receivers must be able to
# handle (RFC 2046, 5.1.1; RFC 7578, 4.1, takes its syntax).
# - a preamble: Starlette, Tornado, streaming-form-data and requests-toolbelt raise; Tornado for an empty line already;
# - spaces: Starlette, Tornado and streaming-form-data raise, Sanic and multipart (not strict) see no field at all;
# - an epilogue: the last field of streaming-form-data is empty, although all of it has come.
# Werkzeug 3.1.8 and Django 5.2.19 read them all. So an upload of a sound or a batch works in one server and fails, or
# is empty, in another, and FastAPI (with Starlette) answers 400 to a body that begins with a line for mail readers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="starlette==1.10.0 python-multipart==0.0.34 tornado==6.6.1 sanic==25.12.1 multipart==2.0.1 django==5.2.19"
more="streaming-form-data==2.1.0 requests-toolbelt==1.0.0 werkzeug==3.1.8"
"$folder/venv/bin/pip" install --quiet $packages $more
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import io
import logging

import multipart
from django.conf import settings
from django.http.multipartparser import MultiPartParser
from requests_toolbelt import MultipartDecoder
from sanic.request.form import parse_multipart_form
from starlette.requests import Request
from streaming_form_data import StreamingFormDataParser
from streaming_form_data.targets import ValueTarget
from tornado.httputil import parse_body_arguments
from werkzeug.test import EnvironBuilder

MEDIA_TYPE = "multipart/form-data; boundary=b"
BODY = '{0}--b{1}\r\nContent-Disposition: form-data; name="a"\r\n\r\nOne\r\n--b--{2}\r\n'
FORMS = {
    "plain": ("", "", ""),
    "preamble": ("A message of several parts.\r\n", "", ""),
    "empty line": ("\r\n", "", ""),
    "spaces": ("", " \t", ""),
    "epilogue": ("", "", "\r\nThe end."),
}
logging.disable()
settings.configure()


def starlette(body: bytes) -> object:
    async def read() -> object:
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict:
            return messages.pop()

        headers = [(b"content-type", MEDIA_TYPE.encode())]
        return (await Request({"type": "http", "method": "POST", "headers": headers}, receive).form()).get("a")

    return asyncio.run(read())


def tornado(body: bytes) -> object:
    arguments: dict = {}
    parse_body_arguments(MEDIA_TYPE, body, arguments, {})
    return arguments["a"][0].decode()


def sanic(body: bytes) -> object:
    return parse_multipart_form(body, b"b")[0].get("a")


def multipart_(body: bytes) -> object:
    environ = {"CONTENT_TYPE": MEDIA_TYPE, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
    return multipart.parse_form_data({"REQUEST_METHOD": "POST", **environ})[0].get("a")


def streaming(body: bytes) -> object:
    parser, target = StreamingFormDataParser({"Content-Type": MEDIA_TYPE}), ValueTarget()
    parser.register("a", target)
    parser.data_received(body)
    return target.value.decode()


def toolbelt(body: bytes) -> object:
    return MultipartDecoder(body, MEDIA_TYPE).parts[0].text


def django(body: bytes) -> object:
    meta = {"CONTENT_TYPE": MEDIA_TYPE, "CONTENT_LENGTH": str(len(body))}
    return MultiPartParser(meta, io.BytesIO(body), []).parse()[0].get("a")


def werkzeug(body: bytes) -> object:
    return EnvironBuilder(method="POST", data=body, content_type=MEDIA_TYPE).get_request().form.get("a")


seen = {}
for reader in (starlette, tornado, sanic, multipart_, streaming, toolbelt, django, werkzeug):
    for form, parts in FORMS.items():
        try:
            seen[reader.__name__, form] = reader(BODY.format(*parts).encode())
        except Exception as error:
            seen[reader.__name__, form] = type(error).__name__
    print(reader.__name__, {form: seen[reader.__name__, form] for form in FORMS})
other = {key: value for key, value in seen.items() if value != "One"}
assert other == {
    ("starlette", "preamble"): "MultiPartException",
    ("starlette", "spaces"): "MultiPartException",
    ("tornado", "preamble"): "HTTPInputError",
    ("tornado", "empty line"): "HTTPInputError",
    ("tornado", "spaces"): "HTTPInputError",
    ("sanic", "spaces"): None,
    ("multipart_", "spaces"): None,
    ("streaming", "preamble"): "ParseFailedException",
    ("streaming", "spaces"): "ParseFailedException",
    ("streaming", "epilogue"): "",
    ("toolbelt", "preamble"): "ImproperBodyPartContentException",
}, other
PYTHON
