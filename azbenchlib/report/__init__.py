"""Notebooks to HTML and PDF."""
