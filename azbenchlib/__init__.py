"""azbench: measure Azure disks, read benchmark outputs exactly, hand over a report."""

from importlib.metadata import version

__version__ = version("azbench")
