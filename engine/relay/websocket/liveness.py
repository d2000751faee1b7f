"""Whether the peer of a channel is alive: a silent one gets a ping, and has to answer."""

from __future__ import annotations

from engine.relay.websocket.channel import Channel


class Liveness:
    """Pings a channel that is silent for `interval` seconds."""

    def __init__(self, channel: Channel, interval: float) -> None:
        self._channel, self._interval = channel, interval
        self._ping: float | None = None  # when the last unanswered one was sent

    def is_lost(self, now: float, *, paused: bool = False) -> bool:
        """Send a ping if it is due. Returns whether the last one was not answered in time; never
        while reading is `paused`. `now` is on the monotonic clock."""
        alive = self._channel.alive
        if paused or (self._ping is not None and alive > self._ping):
            self._ping = None
        elif self._ping is not None:
            return now - self._ping >= self._interval
        elif now - alive >= self._interval:
            self._ping = now
            self._channel.ping(b"")
        return False
