"""Why this offer: what was rejected, what a looser demand would save, where the choice turns."""
