"""Which VM with disks carries what a system was seen to ask for."""
