"""Stops of running turns: every origin with every kind of client."""
