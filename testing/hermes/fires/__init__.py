"""The stock client's jobs: the client arms them at the desk, and the desk calls the client when they are due."""
