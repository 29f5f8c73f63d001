"""The plan of a measurement: runs, time, GiB written, money and the limit that is expected."""
