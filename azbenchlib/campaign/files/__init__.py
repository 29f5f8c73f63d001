"""The measurement file: its fields, its reading and the setups and disks that it names."""
