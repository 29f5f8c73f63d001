"""Readers of what fio writes, and of its job files."""
