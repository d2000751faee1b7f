"""The steps, oldest first: `r0001`, `r0002`, ..."""
