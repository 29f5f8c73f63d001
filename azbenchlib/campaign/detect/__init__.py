"""What this Azure VM is, and which device each of its disks is."""
