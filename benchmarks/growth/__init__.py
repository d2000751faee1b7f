"""What a large gateway costs."""
