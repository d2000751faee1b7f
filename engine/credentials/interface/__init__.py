"""The types that a kind of credential fills in; read `credential.py` first."""
