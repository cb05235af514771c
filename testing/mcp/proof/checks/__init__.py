"""What is checked, by what it is about."""
