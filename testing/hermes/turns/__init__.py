"""Tests the whole stock gateway, with a test model behind it, with the desk."""
