"""One request, played through the real application without a socket, and what was seen of it."""
