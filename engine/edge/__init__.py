"""Falcon: makes an `Exchange` of a WSGI request, and sends its response. Above this room only
`app/`, `mock/` and `console/` import Falcon. Read `falcon_responder.py` first.
"""
