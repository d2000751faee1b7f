"""Falcon: from a WSGI request to an `Exchange` and back. Nothing above it but `app/`, `mock/` and
`console/` knows Falcon. Read `endpoint.py` first.
"""
