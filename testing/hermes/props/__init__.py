"""What both ways of driving the stock client use: a desk, a platform, a PostgreSQL, a runner."""
