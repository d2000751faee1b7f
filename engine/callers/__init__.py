"""Who calls: from the digest of a token to a `Caller`, and from a caller to the limits that apply.
Read `cache.py` first.
"""
