"""The addresses of an upstream with `resolve`: their lookup, and a client for each of them.

Read `source.py` first: it picks the lookup that the config names, DNS or a file. Lookups are
repeated, and their failures handled, in `client/host_addresses.py`.
"""
