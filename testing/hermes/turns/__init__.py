"""Drives the whole stock gateway, with a model of ours behind it, against the desk."""
