"""The lessons themselves: a module a lesson, with what it asks, calculates and measures."""
