"""A request that is played through the real application without a socket. Read `rehearse.py` first;
`boot.py` starts a whole plan in this way.
"""
