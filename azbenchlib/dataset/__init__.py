"""From raw files to a dataset: reading, matching logs to runs, the manifest."""
