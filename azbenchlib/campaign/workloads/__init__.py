"""The kinds of workloads: fio by options, fio job files, iozone."""
