"""The common parts of the suites for the stock client: a desk, a platform, a PostgreSQL, a runner."""
