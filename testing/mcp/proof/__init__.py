"""Uses the desk's tools with a client of others."""
