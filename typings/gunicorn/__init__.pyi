"""What mypy has to know of gunicorn, which has no types: the parts that `engine/server` uses."""
