"""Where the addresses of an upstream with `resolve` come from, and what it has for each of them.

`source.py` first: it picks the lookup that a config asks for, of DNS or of a file. How lookups are
repeated, and what happens when one fails, is in `client/host_addresses.py`.
"""
