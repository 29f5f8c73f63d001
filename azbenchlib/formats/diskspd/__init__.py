"""Readers of what diskspd writes."""
