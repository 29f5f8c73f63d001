"""Published cases of Azure disks: read from JSON, and judged."""
