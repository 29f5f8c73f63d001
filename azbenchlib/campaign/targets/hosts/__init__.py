"""Measuring a host that one can log in to by ssh: nothing is installed there but fio."""
