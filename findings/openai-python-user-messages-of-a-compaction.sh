#!/usr/bin/env bash
# openai (Python) 3.57.0: the answer of /responses/compact begins with messages of the user, which its type does not have.
#
# "This is a list of all user messages, followed by a single compaction item", says CompactedResponse.output of itself, and
# that list is the next `input`. But its items are those of a response, whose only message is the assistant's: a part
# `input_text` is read as ResponseOutputText whose `annotations`, a list by its type, is None, an image as one whose `text` is
# None; to_dict(), which a program needs to send the list on, warns; and model_validate() refuses the answer.
#
# Programs that go through `annotations`, or join the texts, get a TypeError.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openai==3.57.0
"$folder/venv/bin/python" - <<'PYTHON'
import json
import warnings

import httpx2
import pydantic
from openai import OpenAI
from openai.types.responses import CompactedResponse

TEXT = {"type": "input_text", "text": "Look at this."}
IMAGE = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="}
USER = {"id": "msg_1", "type": "message", "role": "user", "status": "completed", "content": [TEXT, IMAGE]}
ITEM = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAAB"}
USAGE = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
USAGE |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
ANSWER = {"id": "resp_1", "object": "response.compaction", "created_at": 1, "output": [USER, ITEM], "usage": USAGE}

answer = httpx2.Response(200, json=ANSWER)
client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: answer)))
compacted = client.responses.compact(model="gpt-5.5", input="Look at this.")
user, item = compacted.output
text, image = user.content
print("types:", type(user).__name__, type(text).__name__, type(image).__name__, type(item).__name__)
print("annotations of the text:", text.annotations, "- text of the image:", image.text)
with warnings.catch_warnings(record=True) as noted:
    warnings.simplefilter("always")
    again = [each.to_dict() for each in compacted.output]
print("to_dict():", json.dumps(again[0])[:60], "...", len(noted), "warning(s)")
try:
    CompactedResponse.model_validate(ANSWER)
    refused = False
except pydantic.ValidationError:
    refused = True
print("model_validate() refuses it:", refused)
assert (type(user).__name__, type(text).__name__) == ("ResponseOutputMessage", "ResponseOutputText")
assert (text.annotations, image.text) == (None, None)
assert noted
assert refused
PYTHON
