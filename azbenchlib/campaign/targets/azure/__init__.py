"""Measuring in Azure: create, measure, collect, delete."""
