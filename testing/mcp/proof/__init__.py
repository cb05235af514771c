"""Calls the desk's tools with a third-party client."""
