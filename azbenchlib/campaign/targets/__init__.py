"""Where a campaign can be run. One module a kind of place."""
