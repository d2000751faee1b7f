"""An operation is called without WSGI; its request must lead to it."""
