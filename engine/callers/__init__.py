"""Callers: finds the `Caller` for the digest of a token (read `cache.py` first), for a JSON Web
Token (`jwt/`) and for a session of the pages (`sign_in/`); and the `limits/` that apply to it.
"""
