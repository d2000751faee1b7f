"""The webhooks of a config as the recorder calls them."""

import time

from standardwebhooks import Webhook as Verifier

from engine.app.services.webhooks import receiver_of
from engine.config.webhooks import Webhook
from engine.stores.webhooks.signature import signed_headers
from tests.support.recording import recorder

SECRET = "whsec_" + "a2V5" * 8
BODY = b'{"type": "limit.warning"}'


def test_an_event_reaches_its_url_with_its_signature():
    with recorder() as hook:
        receiver = receiver_of(Webhook("a", f"{hook.url}/x?key=1", (SECRET,), 5.0))
        headers = signed_headers(receiver.keys, "msg_1", int(time.time()), BODY)
        assert receiver.post(BODY, headers).status == 200
        sent = dict(hook.last.headers)
        assert hook.last.target == "/x?key=1"
        assert sent["content-type"] == "application/json"
        assert sent["user-agent"].startswith("modelway/")
        assert Verifier(SECRET).verify(hook.last.body, sent) == {"type": "limit.warning"}
