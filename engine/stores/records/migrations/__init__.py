"""How the tables came to be, one step per file in versions/."""
