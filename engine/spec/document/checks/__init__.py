"""What is wrong in a document: unreadable parts, misspelt keys, breaches of the standard."""
