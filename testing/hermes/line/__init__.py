"""The stock Hermes client with the real desk, judged from outside."""
