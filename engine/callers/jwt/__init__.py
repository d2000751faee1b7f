"""Callers with a JSON Web Token of another issuer (RFC 7519), whose signatures PyJWT verifies. Read
`bearers.py` first; `key_set.py` has the keys of an issuer, `rights.py` makes a caller of claims.
"""
