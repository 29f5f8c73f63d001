"""Tidy tables to tidy tables: pure functions, no files, no figures."""
