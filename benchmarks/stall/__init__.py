"""How long a small request waits behind one large request or answer."""
