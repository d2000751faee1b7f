"""What holds for all tests."""

import os

from hypothesis import settings

# The machines are shared: how long one example takes says nothing about the code. In CI the same
# examples come each time, so that a change is judged by what it changes; at a desk they are new.
settings.register_profile("shared", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("shared")
