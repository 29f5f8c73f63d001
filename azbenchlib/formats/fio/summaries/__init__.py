"""Summaries that scripts around fio print of its results."""
