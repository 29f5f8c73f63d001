"""A history of loads as real I/O: fio replays it on the emulated disks of a design."""
