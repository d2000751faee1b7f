"""What holds for all tests."""

from hypothesis import settings

# The machines are shared: how long one example takes says nothing about the code.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
