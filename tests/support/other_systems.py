"""A Python with what it has on Windows or macOS, and no more: names that are missing there are hidden.

What it cannot show: how paths are written there, drives, and what the libraries that are installed there do
differently.
Sources: the "Availability" notes of Python's documentation of os, signal, socket, fcntl and resource,
3.14.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

PRELUDE = '''
import asyncio, ctypes.util, functools, getpass, multiprocessing.connection, os, platform
import shutil, signal, socket, stat, subprocess, sys, tempfile
import pandas, platformdirs, pydantic, rich.console, typer  # others' own business

system = sys.argv.pop(1)
MODULES = {"windows": ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"), "macos": ()}
NAMES = {
    os: {
        "windows": (
            *("chown", "fchmod", "fchown", "getegid", "geteuid", "getgid", "getgroups", "getloadavg"),
            *("getpgid", "getsid", "getuid", "killpg", "major", "makedev", "minor", "mkfifo", "mknod"),
            *("O_CLOEXEC", "O_DIRECT", "O_DIRECTORY", "O_DSYNC", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
            *("posix_fadvise", "posix_fallocate", "sched_getaffinity", "sched_setaffinity", "setsid"),
            *("nice", "statvfs", "sync", "sysconf", "uname", "wait3", "wait4", "waitid", "WNOHANG"),
        ),
        "macos": ("O_DIRECT", "posix_fadvise", "posix_fallocate", "sched_getaffinity", "sched_setaffinity"),
    },
    signal: {
        "windows": (
            *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP"),
            *("SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "setitimer", "pthread_sigmask", "set_wakeup_fd"),
        ),
        "macos": ("SIGPWR", "SIGRTMIN", "sigtimedwait"),
    },
    socket: {"windows": ("AF_UNIX",), "macos": ("AF_NETLINK",)},
}
free = shutil.disk_usage(".")  # Python on Windows asks for it in another way
shutil.disk_usage = lambda path: free
ctypes.util.find_library = lambda name: None  # nothing is installed
socket.socketpair = functools.partial(socket.socketpair, socket.AF_UNIX)  # what Windows has does the same
for name in MODULES[system]:
    sys.modules[name] = None
for module, names in NAMES.items():
    for name in names[system]:
        if hasattr(module, name):
            delattr(module, name)

if system == "windows":
    opened, replaced, removed = os.open, os.replace, os.unlink

    def _in_use(path):
        """Whether this process has the file open: then Windows neither renames nor removes it."""
        fds = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
        return any(os.path.realpath(path) == os.path.realpath(fd) for fd in fds)

    def _open(path, *rest, **named):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **named)

    def _guarded(act):
        def acts(path, *rest, **named):
            if named.get("dir_fd") is None and _in_use(path):
                raise PermissionError(13, "The process cannot access the file", str(path))
            return act(path, *rest, **named)
        return acts

    os.open, os.replace = _open, _guarded(replaced)
    os.unlink = os.remove = _guarded(removed)
'''
SAY = """
import contextlib, io, json
from azbenchlib.cli import main

def said(line, encoding):
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    sys.argv, code = ["azbench", *line.split()], 0
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        for stream in streams:
            stream.flush()
    return [code, *(stream.buffer.getvalue().decode(stream.encoding) for stream in streams)]

encoding = {"windows": "cp1252", "macos": "utf-8"}[system]
print(json.dumps([said(line, encoding) for line in sys.argv[1:]]))
"""


def command_lines(system: str, *lines: str, cwd: Path) -> list[tuple[int, str, str]]:
    """Exit code, output and notes of command lines, one after the other, on a machine without programs."""
    env = {**os.environ, "PATH": str(cwd), "HOME": str(cwd), "PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-c", PRELUDE + SAY, system, *lines]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]
