"""The systems. ONE FILE = ONE SYSTEM, with `NAME` and `prepare(folder, upstream)`."""
