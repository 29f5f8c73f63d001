"""Readers of what IOMeter writes."""
