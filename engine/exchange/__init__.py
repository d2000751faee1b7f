"""One request as a typed value, its body, the record of what happened to it, and the services that
its stages share. Read `exchange.py` first; `interfaces.py` types what higher rooms put into it.
"""
