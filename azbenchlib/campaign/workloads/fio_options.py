"""The options and I/O engines of fio that measurement files and job files may use, by their full names.

What is not listed is refused: options that start programs, open other files, load code, turn to other
machines or change settings of the system, and whatever a later fio adds. fio completes abbreviated names and
expands ``$VARIABLE`` and backticks in values, so names are compared whole, and a value must have the form of
its option.

Source: fio HOWTO and ``options.c``, read at fio-3.41; names and aliases are compared with ``fio --cmdhelp``.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.formats.fio.job_lines import ALIASES, canonical

_LONGEST = 1000  # characters of a value
PAGE = "docs/measurement-file.md"  # which lists what is allowed

# Engines that do I/O on the files they are given and on nothing else.
ENGINES = (
    *("libaio", "io_uring", "psync", "sync", "vsync", "pvsync", "pvsync2", "posixaio", "mmap", "splice"),
    *("null", "windowsaio", "solarisaio"),
)
EMULATED_ENGINE = "nbd"  # how fio drives an emulated disk; the lab alone says where that is

# Options that are refused for what they do; those that are merely not listed get the nearest name instead.
RESERVED = frozenset(
    (
        *("filename", "filename_format", "directory", "opendir", "output", "output_format", "append_terse"),
        *("client", "server", "remote_config", "exec_prerun", "exec_postrun", "write_iolog", "read_iolog"),
        *("merge_blktrace_file", "replay_redirect", "aux_path", "include", "ioscheduler", "trigger"),
        *("trigger_file", "trigger_remote", "trigger_timeout", "write_bw_log", "write_lat_log", "uri"),
        *("write_iops_log", "write_hist_log", "log_avg_msec", "allow_mounted_write", "allow_file_create"),
        *("unlink", "unlink_each_loop", "name", "section", "showcmd", "parse_only", "verify_state_load"),
        *("verify_dump", "fill_device", "fill_fs", "cgroup", "uid", "gid", "profile"),
    )
)


@dataclass(frozen=True)
class Kind:
    """The form of a value: `what` it must be, in words, and `pattern`, which all of it must match."""

    what: str
    pattern: re.Pattern[str]


_UNIT = r"(?:usec|msec|sec|us|ms|[kmgtp]ib|[kmgtp][ib]|[kmgtp]|[bshdz])"
# Digits of a hexadecimal number are not given back: b and d are units, too, and each would double the ways.
_NUMBER = rf"(?:0x[0-9a-f]{{1,16}}+|[0-9]{{1,20}}(?:\.[0-9]{{1,20}})?){_UNIT}?%?"
_LIST = rf"{_NUMBER}(?:[,:/-](?:{_NUMBER})?)*"
_CPUS = r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:[,:][0-9]{1,5}(?:-[0-9]{1,5})?)*"


def _kind(what: str, pattern: str) -> Kind:
    return Kind(what, re.compile(pattern, re.ASCII | re.IGNORECASE))


def _one_of(words: str, suffix: str = "", example: str = "") -> Kind:
    """One of some words; `suffix`: what may stand behind it."""
    choices = words.split()
    what = f"one of {', '.join(choices)}" + (f", such as {example}" if example else "")
    return Kind(what, re.compile(rf"(?:{'|'.join(map(re.escape, choices))}){suffix}", re.ASCII))


FLAG = _kind("0 or 1", r"[01]?")
NUMBER_KIND = _kind("a number, such as 8, 4k, 10ms or 0x1f", rf"-?{_NUMBER}")
NUMBERS = _kind("a number or a list of them, such as 4k, 50% or 4k/70:64k/30", rf",?{_LIST}")
CPUS = _kind("numbers, such as 0-3,8", _CPUS)
_NAME = _kind("a name of letters, digits, -, _ and .", r"[a-z0-9_][a-z0-9_.-]{0,99}")
LOG = _kind("a name of letters, digits, - and _, without a folder", r"(?:[a-z0-9_][a-z0-9_-]{0,99})?")
SECTION = _kind(
    "at most 100 letters, digits, spaces and . , : + = % @ ( ) _ -, a letter, digit or _ first",
    r"[a-z0-9_][a-z0-9_ .,:+=%@()-]{0,99}",
)
_TEXT = _kind("words of letters, digits and plain punctuation", r"[a-z0-9(][a-z0-9 .,:()+=%_/-]{0,199}")
PATTERN = _kind(
    'a pattern, such as 0xdeadbeef or "text", and never a file',
    # Each part begins where the one before it cannot go on, so there is one way to read a value.
    r'(?:"[a-z0-9 ._-]+"|%o|-?[0-9]++(?:(?<=0)(?<!-0)x[0-9a-f]++)*+)+',
)
PLACE = _kind("a path of letters, digits, -, _, . and +", r"[a-z0-9_+./][a-z0-9_+./:-]{0,199}")

_DISTRIBUTION = rf"(?::{_LIST})?"
_ERRORS = r"[A-Z0-9]+(?:[,:][A-Z0-9]+)*"

_FLAGS = """
    allrandrepeat atomic block_error_percentiles bs_is_seq_rand bs_unaligned buffered clat_percentiles
    create_fsync create_on_open create_only create_serialize dedupe_global direct disable_bw_measurement
    disable_clat
    disable_lat disable_slat disk_util do_verify end_fsync error_dump exitall exitall_on_error
    experimental_verify file_append fixedbufs fsync_on_close group_reporting gtod_reduce hipri
    ignore_zone_limits invalidate lat_percentiles latency_run log_alternate_epoch log_issue_time
        log_offset log_prio log_unix_epoch new_group nonvectored norandommap nowait overwrite
    per_job_logs pre_read
    randrepeat rate_ignore_thinktime read_beyond_wp refill_buffers registerfiles scramble_buffers
    serialize_overlap slat_percentiles sqthread_poll stats stonewall thp thread time_based trim_verify_zero
    uncached userspace_reap verify_fatal verify_header_seed verify_only verify_state_save
    verify_write_sequence
    zero_buffers
"""
_ONE_NUMBER = """
    buffer_compress_chunk buffer_compress_percentage bwavgtime cmdprio cmdprio_class cpumask dedupe_percentage
    dedupe_working_set_percentage fdatasync flow flow_id flow_sleep force_async fsync gtod_cpu
    hipri_percentage hugepage-size iodepth iodepth_batch iodepth_batch_complete_max iodepth_batch_complete_min
    iodepth_low iopsavgtime job_max_open_zones latency_percentile latency_target latency_window
    log_compression
    log_entries log_hist_coarseness log_hist_msec loops max_open_zones nice nrfiles number_ios numjobs
    offset_align openfiles prio prioclass ramp_time ramp_size randseed rate_cycle runtime rwmixread rwmixwrite
    significant_figures sqthread_poll_cpu steadystate_duration steadystate_ramp_time thinkcycles
    thinktime_blocks thinktime_iotime trim_backlog trim_backlog_batch trim_percentage verify_async
    verify_backlog verify_backlog_batch verify_interval verify_offset write_barrier zone_reset_frequency
    zone_reset_threshold zonecapacity zonerange zonesize zoneskip
"""
_LISTS = """
    ba bs bsrange bssplit cmdprio_bssplit cmdprio_percentage filesize io_size max_latency offset
    offset_increment percentage_random percentile_list rate rate_iops rate_iops_min rate_min size startdelay
    thinktime thinktime_spin
"""
_CPU_LISTS = "cpus_allowed log_compression_cpus numa_cpu_nodes verify_async_cpus"

# Options that may stand in a measurement file, and in a job file too.
OPTIONS: dict[str, Kind] = {
    **dict.fromkeys(_FLAGS.split(), FLAG),
    **dict.fromkeys(_ONE_NUMBER.split(), NUMBER_KIND),
    **dict.fromkeys(_LISTS.split(), NUMBERS),
    **dict.fromkeys(_CPU_LISTS.split(), CPUS),
    "buffer_pattern": PATTERN,
    "clocksource": _one_of("gettimeofday clock_gettime cpu"),
    "continue_on_error": _one_of("none read write io verify all 0 1"),
    "cpus_allowed_policy": _one_of("shared split"),
    "dedupe_mode": _one_of("repeat working_set"),
    "description": _TEXT,
    "exit_what": _one_of("group stonewall all"),
    "fadvise_hint": _one_of("0 1 random sequential none noreuse"),
    "fallocate": _one_of("none native posix keep truncate 0 1"),
    "file_service_type": _one_of(
        "random roundrobin sequential zipf pareto normal gauss", _DISTRIBUTION, "zipf:1.2"
    ),
    "ignore_error": Kind("names of errors, such as EIO,ENOSPC:EIO", re.compile(_ERRORS, re.ASCII)),
    "io_submit_mode": _one_of("inline offload"),
    "ioengine": _one_of(" ".join(ENGINES)),
    "kb_base": _one_of("1024 1000"),
    "lockfile": _one_of("none exclusive readwrite"),
    **dict.fromkeys(("log_max_value", "log_window_value"), _one_of("0 1 avg max both")),
    "mem": _one_of("malloc shm shmhuge mmap mmapshared"),
    "numa_mem_policy": _one_of("default prefer bind interleave local", rf"(?::{_CPUS})?", "bind:0-1"),
    "random_distribution": _one_of(
        "random zipf pareto normal gauss zoned zoned_abs", _DISTRIBUTION, "zipf:1.2"
    ),
    "random_generator": _one_of("tausworthe tausworthe64 lfsr"),
    "rate_process": _one_of("linear poisson"),
    "rw": _one_of(
        "read write trim randread randwrite randtrim rw readwrite randrw trimwrite randtrimwrite",
        rf"(?::{_NUMBER})?",
        "randread:8",
    ),
    "rw_sequencer": _one_of("sequential identical"),
    "steadystate": _one_of("iops iops_slope bw bw_slope", rf":{_NUMBER}", "iops_slope:0.3%"),
    "sync": _one_of("none sync dsync 0 1"),
    "sync_file_range": Kind(
        "wait_before, write and wait_after, such as wait_before,write:8",
        re.compile(
            r"(?:wait_before|write|wait_after)(?:,(?:wait_before|write|wait_after)){0,2}(?::[0-9]{1,9})?"
        ),
    ),
    "thinktime_blocks_type": _one_of("complete issue"),
    "unified_rw_reporting": _one_of("none mixed both 0 1 2"),
    "unit_base": _one_of("0 1 8"),
    "verify": _NAME,  # of a method; later versions of fio have more of them
    "verify_pattern": PATTERN,
    "wait_for": _NAME,
    "write_hint": _one_of("none short medium long extreme"),
    "zonemode": _one_of("none strided zbd"),
}
# What a job file may say besides: where in its folder the data lies, and how its logs are called.
IN_JOB_FILES: dict[str, Kind] = {
    **OPTIONS,
    "directory": PLACE,
    "filename": PLACE,
    "name": SECTION,
    **dict.fromkeys(("allow_file_create", "unlink", "unlink_each_loop"), FLAG),  # of files in its folder
    "log_avg_msec": NUMBER_KIND,
    **dict.fromkeys(("write_bw_log", "write_hist_log", "write_iops_log", "write_lat_log"), LOG),
}


def check(name: str, value: str, allowed: dict[str, Kind] = OPTIONS) -> None:
    """Refuse an option that is not allowed, or a value that is not of its kind; with what is allowed.

    An alias is taken for the option that it names; `value` is empty where an option stands alone. `allowed`:
    :data:`OPTIONS`, or :data:`IN_JOB_FILES`.
    """
    kind = allowed.get(canonical(name))
    if kind is None:
        raise InputError(_refusal(name, allowed), keys=(name,))
    if name == "ioengine" and value not in ENGINES:
        raise InputError(
            f"ioengine '{shown(value)}' is not allowed; the engines are: {', '.join(ENGINES)}", keys=(name,)
        )
    if len(value) > _LONGEST or not kind.pattern.fullmatch(value):
        raise InputError(f"option {name}: '{shown(value)}' must be {kind.what}", keys=(name,))


def shown(text: str) -> str:
    """The beginning of a text from a file, as it can be printed."""
    short = text if len(text) <= 60 else f"{text[:60]}…"
    return short if short.isprintable() else ascii(short)[1:-1]


def _refusal(name: str, allowed: Iterable[str]) -> str:
    if " ".join(name.split()[:1]).lower().replace("-", "_") in RESERVED:
        return (
            f"option '{shown(name)}' may not be set: azbench decides what fio reads, writes and starts; "
            f"{PAGE} lists the options that may"
        )
    near = difflib.get_close_matches(name[:60], [*allowed, *ALIASES], 1)
    nearest = f"the nearest that is allowed is '{near[0]}'" if near else f"{PAGE} lists those that are"
    return f"option '{shown(name)}' is not allowed; {nearest}"
