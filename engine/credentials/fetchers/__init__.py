"""How each kind of token is fetched: `fetch(options)` returns the values of a token and its expiry
in Unix seconds, None for none, or raises CredentialUnavailable.

Only the helper process imports these modules, and with them the libraries of the vendors
(`engine/credentials/access_tokens/helper.py`).
"""
