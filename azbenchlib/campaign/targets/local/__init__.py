"""Measuring a folder or a device of this machine."""
