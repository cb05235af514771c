"""Checks of the web chat page in a real browser."""
