"""The mock's half of a realtime session: events in, events out, without sockets.

It echoes: a reply says word by word what the user said last, or gives back the sound that was
committed, in pieces, with a transcript. Both generations of event names are spoken.
"""

from engine.mock.realtime.conversation import Conversation

__all__ = ["Conversation"]
