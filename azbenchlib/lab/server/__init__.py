"""The process that serves an emulated disk over NBD."""
