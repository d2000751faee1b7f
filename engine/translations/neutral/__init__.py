"""The neutral form of a chat, which every language reads into and writes from.

Read `request.py` and `content.py` first, then `events.py` for answers. Nothing here knows a vendor.
"""
