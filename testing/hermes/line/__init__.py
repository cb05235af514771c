"""The stock Hermes client against the real desk, judged from outside."""
