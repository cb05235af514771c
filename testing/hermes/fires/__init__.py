"""The stock client's jobs: the desk is told of them, and tells the client when they are due."""
