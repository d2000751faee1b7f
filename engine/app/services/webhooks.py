"""The webhooks of a config, for the process that calls them: the recorder."""

from __future__ import annotations

from engine.app.services.limit_warnings import open_outbox
from engine.app.services.telemetry import WorkerTelemetry, version
from engine.config.config import Config
from engine.config.webhooks import Webhook
from engine.stores.webhooks.delivery import Deliveries, Receiver
from engine.stores.webhooks.signature import key_of
from engine.upstream.service_calls import PostClient


def receiver_of(webhook: Webhook) -> Receiver:
    """A webhook as it is called. ValueError for one that the checks of a config refuse."""
    headers = {"content-type": "application/json", "user-agent": f"modelway/{version()}"}
    post = PostClient(webhook.url, headers, seconds=webhook.timeout)
    return Receiver(post, [key_of(secret) for secret in webhook.secrets])


def start_deliveries(config: Config, telemetry: WorkerTelemetry) -> None:
    """Call the webhooks from now on, until `telemetry` is closed. Raises OSError."""
    receivers = {name: receiver_of(webhook) for name, webhook in config.webhooks.items()}
    deliveries = Deliveries(open_outbox(config), receivers)
    telemetry.closing.append(deliveries.close)
    telemetry.collectors.append(deliveries.collect)
    deliveries.start()
