"""The emulated VM and its disks in virtual time: buckets, cache, latencies. No clock, no I/O."""
