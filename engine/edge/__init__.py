"""Falcon: makes an `Exchange` of a WSGI request, and sends its response. No other room imports
Falcon. Read `falcon_responder.py` first.
"""
