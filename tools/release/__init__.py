"""A release by one command, `tox -e release -- VERSION`; `__main__.py` has its steps."""
