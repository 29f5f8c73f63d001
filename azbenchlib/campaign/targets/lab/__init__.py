"""Measuring emulated disks."""
