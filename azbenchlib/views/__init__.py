"""What the notebooks call: one class a notebook, one method a cell."""
