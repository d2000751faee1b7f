#!/usr/bin/env bash
# Falcon 4.4.0: a body whose media type is written with a capital letter is refused with 415.
#
# The names of type and subtype are case-insensitive (RFC 9110, 8.3.1; its example is `Text/HTML;Charset="utf-8"`).
# `req.get_media()` reads `application/json`, and answers `Application/JSON` with "415 Unsupported Media Type", although
# the handler for it is there from the start. So are both kinds of forms. Names of parameters may have any case.
# Flask 3.1.3 and Starlette 1.10.0 read all of them. A client that writes so is locked out of each such server.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="falcon==4.4.0 flask==3.1.3 starlette==1.10.0 python-multipart==0.0.34 httpx==0.28.1"
"$folder/venv/bin/pip" install --quiet $packages
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import falcon
import falcon.testing
import flask
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

FORM = "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b--\r\n"
BODIES = {
    "json": ("application/json", '{"model": "m"}'),
    "JSON": ("Application/JSON", '{"model": "m"}'),
    "urlencoded": ("application/x-www-form-urlencoded", "model=m"),
    "Urlencoded": ("Application/X-WWW-Form-Urlencoded", "model=m"),
    "multipart": ("multipart/form-data; boundary=b", FORM),
    "Multipart": ("Multipart/Form-Data; Boundary=b", FORM),
}


class Resource:
    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        media = req.get_media()
        resp.media = media if isinstance(media, dict) else [[part.name, part.text] for part in media]


app = falcon.App()
app.add_route("/", Resource())
flask_app = flask.Flask("flask")


@flask_app.post("/")
def show() -> dict:
    return flask.request.get_json() if flask.request.is_json else dict(flask.request.form)


async def read(request: Request) -> JSONResponse:
    kind = request.headers["Content-Type"].lower()
    return JSONResponse(await request.json() if "json" in kind else dict(await request.form()))


starlette = TestClient(Starlette(routes=[Route("/", read, methods=["POST"])]))
seen = {}
for name, (media_type, body) in BODIES.items():
    headers = {"Content-Type": media_type}
    answer = falcon.testing.simulate_post(app, "/", body=body, headers=headers)
    seen[name] = answer.json if answer.status_code == 200 else answer.status_code
    others = [
        flask_app.test_client().post("/", data=body, content_type=media_type).json,
        starlette.post("/", content=body, headers=headers).json(),
    ]
    print(name, seen[name], others)
    assert others == [{"model": "m"}] * 2, name
assert seen == {
    "json": {"model": "m"},
    "JSON": 415,
    "urlencoded": {"model": "m"},
    "Urlencoded": 415,
    "multipart": [["model", "m"]],
    "Multipart": 415,
}
PYTHON
