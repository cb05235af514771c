"""The checks, by subject."""
