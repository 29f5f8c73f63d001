"""Notebooks to HTML and PDF."""

from azbenchlib.report.content import Report

__all__ = ["Report"]
