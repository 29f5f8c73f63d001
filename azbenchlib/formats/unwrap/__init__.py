"""What stands around outputs, taken off before a format is recognised."""
