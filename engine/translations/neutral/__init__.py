"""The neutral form of a chat, which every language reads into and writes from.

Read `request.py` and `content.py` first, then `events.py` for answers. Nothing here knows a vendor.
JSON of requests is read strictly (`request_json.py`), JSON of answers tolerantly
(`answer_json.py`); `json_members.py` reads single objects member by member, for both.
"""
