"""What can be ordered: VM sizes, disks and stripes, with their limits and prices."""
