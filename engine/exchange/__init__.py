"""One request as a typed value, and what every step of its way shares. Read `exchange.py` first."""
