"""What changes between two configs in effect, whatever changed in their text."""
