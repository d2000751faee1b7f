"""Callers: finds the `Caller` for the digest of a token, and the limits that apply to a caller.
Read `cache.py` first.
"""
