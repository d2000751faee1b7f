"""Falcon: makes an `Exchange` of a WSGI request, and sends its response. Above this room only
`app/`, `mock/` and `console/` import Falcon. Read `endpoint.py` first.
"""
