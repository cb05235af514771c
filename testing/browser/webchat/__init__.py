"""Our own page, looked at through a real browser."""
