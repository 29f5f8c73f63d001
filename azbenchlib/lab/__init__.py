"""The lab: a VM with its disks, emulated by the limits and latencies that are documented and published.

:class:`azbenchlib.lab.engine.virtual_machine.Machine` is the emulation, in emulated seconds and without any
clock; the server puts it behind a socket that real benchmark tools drive.
"""
