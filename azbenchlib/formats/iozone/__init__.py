"""Readers of what iozone writes."""
