"""The registry of findings: everything that can be wrong with an input, or makes a result doubtful.

A finding has a code of this registry, which says how severe it is, what it means, and what to do about it;
the finding itself has the figures. ``docs/findings.md`` is made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much a finding matters, the worst first."""

    ERROR = "error"  # something is lost or wrong
    WARNING = "warning"  # a figure may not be what it seems
    INFO = "info"  # worth knowing


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Code(StrEnum):
    """A kind of finding.

    Attributes
    ----------
    severities : tuple of Severity
        The usual one first, then those that circumstances can make it.
    meaning : str
        What it says of an input or a result, in whole sentences.
    advice : str
        What to do, where that is always the same; else the finding says it.
    """

    severities: tuple[Severity, ...]
    meaning: str
    advice: str

    def __new__(
        cls,
        code: str,
        severities: Severity | tuple[Severity, ...] = (),
        meaning: str = "",
        advice: str = "",
    ) -> Code:
        """A code with what is known of it."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.severities = severities if isinstance(severities, tuple) else (severities,)
        member.meaning, member.advice = meaning, advice
        return member

    # ---- files ------------------------------------------------------------------------------------------
    NOT_READ = (
        "not_read",
        (ERROR, INFO),
        "The file could not be opened. It is only worth knowing of a link that leads out of the folder, "
        "which is never followed.",
    )
    NOT_RECOGNISED = "not_recognised", WARNING, "No reader knows the format of this file."
    EMPTY_FILE = "empty_file", WARNING, "The file is empty.", "Look whether the program before it failed"
    EMPTY_LOG = "empty_log", INFO, "The log is empty: fio had nothing to write."
    COMPRESSED_LOG = "compressed_log", WARNING, "The log is compressed, and only fio can unpack it."
    TOO_LARGE = (
        "too_large",
        ERROR,
        "The file is too large to be read at once.",
        "Split it; thin logs with log_avg_msec",
    )
    COUNTED_ONCE = (
        "counted_once",
        INFO,
        "The same run, or the same content, is in another file too, or twice in one; it is counted once.",
    )
    SEVERAL_TOOLS = (
        "several_tools",
        ERROR,
        "The file holds outputs of several tools, and some of them could not be read.",
        "Put each output into a file of its own",
    )
    UNWRAPPED = (
        "unwrapped",
        INFO,
        "Something stood around the outputs of the file, such as a time before each line, an archive or JSON "
        "that holds them as a string. It was taken off, and the outputs were read as if they stood alone.",
    )
    ARCHIVE_NOT_READ = (
        "archive_not_read",
        ERROR,
        "An archive is damaged, encrypted, or unpacks to more than is read at once.",
        "Unpack it, and name the files",
    )
    NO_FIGURES = (
        "no_figures",
        (WARNING, ERROR),
        "The file has the format of a tool, but no figure of it can be read.",
    )
    NOT_COMPLETE = "not_complete", (WARNING, ERROR), "The output ends before the tool was done."
    ROW_NOT_READ = "row_not_read", (WARNING, ERROR), "Some lines or figures are damaged and were left out."
    METRICS_LEFT_OUT = (
        "metrics_left_out",
        INFO,
        "The answer of Azure Monitor has metrics that no table has a place for; the others were read.",
    )
    BROKEN_LINES = "broken_lines", (WARNING, ERROR), "Some lines are damaged and were left out."
    VALUE_OUT_OF_RANGE = (
        "value_out_of_range",
        ERROR,
        "A value does not fit its column (such as a negative count) and was left out.",
        "Look whether the file is damaged",
    )
    JOB_DESCRIPTION = (
        "job_description",
        INFO,
        "The file describes a run, such as a job file of fio; nothing was measured.",
    )
    RAW_MISSING = (
        "raw_missing",
        ERROR,
        "A raw file is listed in the manifest of its dataset, but is not there.",
    )
    RAW_CHANGED = (
        "raw_changed",
        WARNING,
        "A raw file of a dataset was changed after its manifest had been written.",
    )
    TABLES_CHANGED = (
        "tables_changed",
        WARNING,
        "A stored table of a dataset is not what its raw files give, so the raw files were read.",
    )
    TIME_SCALE_UNKNOWN = (
        "slow_motion_unknown",
        WARNING,
        "The run was made on an emulated disk that ran slower than the disk it stands for, and by how much "
        "is not known, so its rates and latencies are those of no disk.",
    )

    # ---- telemetry --------------------------------------------------------------------------------------
    SINCE_BOOT = (
        "since_boot",
        (INFO, WARNING),
        "The first report of iostat is the average since boot (unless -y is there), so it was left out. It "
        "is a warning where there is no other report.",
        "Run iostat with an interval, such as iostat -x -t -y 60",
    )
    INTERVAL_UNKNOWN = (
        "interval_unknown",
        WARNING,
        "The reports have no time, so how long each of them is cannot be told.",
        "Run iostat with -t; or state the interval: azbench size --interval 60s",
    )
    INTERVALS_MISSING = (
        "intervals_missing",
        WARNING,
        "Reports are missing between others; nothing is known of that time.",
    )
    CLOCK_SET_BACK = (
        "clock_set_back",
        WARNING,
        "The clock was set back, as at the end of summer time; the times that follow are corrected.",
        "Let the tool write its times in UTC",
    )
    PARTITIONS_BESIDE_DISK = (
        "partitions_beside_disk",
        INFO,
        "Partitions stand beside the disk that they are part of.",
        "Only the disk is counted",
    )
    STACKED_DEVICES = (
        "stacked_devices",
        INFO,
        "Devices of the device mapper, of LVM or of RAID stand beside the disks that they lie on.",
        "Only the disks are counted",
    )
    COUNTERS_LEFT_OUT = (
        "counters_left_out",
        (INFO, WARNING),
        "Some counters tell nothing of disks. It is a warning where none does, as when the names of the "
        "counters are not English.",
    )
    OPTION_OF_COMMAND_LINE = (
        "option_of_command_line",
        INFO,
        "The output does not show an option that matters; the command line above the output does.",
    )
    DISCARDS_IN_WRITES = (
        "discards_in_writes",
        INFO,
        "The tool has one figure for what was written and what was discarded, so what was written is not "
        "known; the throughput of all is kept.",
        "Record with iostat -x, which tells them apart",
    )
    TOTALS_ALONE = (
        "totals_alone",
        INFO,
        "The output has the sum over all disks and not the disks one by one.",
        "Record with sar -d",
    )
    COUNTERS_ONCE = (
        "counters_once",
        WARNING,
        "Counters that grow from the start of a system give a rate by what they grew from one reading to the "
        "next; here are no two readings with their times.",
        "Record several readings with times, such as vmstat -d -t 60, or a range of the counters themselves",
    )
    SERIES_CUT = (
        "series_cut",
        WARNING,
        "The answer of Azure Monitor has just ten series of a metric, which is where Azure cuts it.",
        "If the VM has more disks, ask again with --top 64",
    )

    # ---- outputs of fio ---------------------------------------------------------------------------------
    NO_FIO_DOCUMENT = "no_fio_document", ERROR, "No job of fio can be read from this JSON."
    NO_FIO_JOB = "no_fio_job", (ERROR, WARNING), "The file holds no job of fio."
    NO_JOBS = "no_jobs", WARNING, "A JSON document of fio has no jobs."
    BROKEN_JSON = (
        "broken_json",
        (ERROR, WARNING),
        "A JSON document is damaged. What is whole of it was read; it is an error if jobs may be missing.",
    )
    TEXT_AROUND_JSON = "text_around_json", INFO, "There is text before, between or after the JSON."
    FIO_ERROR_LINE = (
        "fio_error_line",
        ERROR,
        "fio wrote an error message into its output.",
        "Fix the error and rerun",
    )
    ETA_ONLY = (
        "eta_only",
        ERROR,
        "The file holds fio's progress lines and no result.",
        "Their rates are of a moment and mean nothing for the run; look for the end of the output",
    )
    INTERIM_DOCUMENT = (
        "interim_document",
        (INFO, WARNING),
        "A document shows a run under way (fio's --status-interval); a later one shows its end. It is a "
        "warning where that is concluded from counters that only grew.",
        "Use the last document of the run",
    )
    REPEATED_LINES = (
        "repeated_lines",
        WARNING,
        "Several terse lines have one job name, and nothing tells whether these jobs ran at once.",
        "If they are of several runs, put each run in a file of its own, or use JSON",
    )
    TEXT_DIFFERS = (
        "text_differs",
        WARNING,
        "Two outputs of one run, such as JSON and normal text, differ.",
        "The more exact output counts",
    )
    NO_IO = "no_io", WARNING, "The job did no I/O at all."
    IO_WITHOUT_FIGURES = (
        "io_without_figures",
        WARNING,
        "The job did I/O, and its output has zero for its bytes, run time or rates, as of a job that was "
        "killed or lasted less than the tool can tell; what is zero is not known.",
        "Leave the run out, and measure again",
    )
    IO_ERRORS = "io_errors", WARNING, "Some I/Os of the job failed."
    JOB_FAILED = (
        "job_failed",
        ERROR,
        "The tool reported an error, and yet figures of the job stand in the tables: they are partial.",
        "Fix the error and rerun",
    )
    OPTIONS_OF_ANOTHER_JOB = (
        "options_of_another_job",
        WARNING,
        "The options that stand with a job are not those it ran with: fio reports a group under the name of "
        "its first job and the options of its last.",
    )
    OPTIONS_BESIDE = (
        "options_beside",
        INFO,
        "A command line or a job file that stands beside the output says options that the output leaves out; "
        "they were taken from there.",
        "Look whether it is that of this run",
    )
    OPTIONS_BESIDE_DIFFER = (
        "options_beside_differ",
        WARNING,
        "A command line or a job file beside the output says something else than the output, which counts.",
        "Look whether it is that of this run",
    )
    OPTION_NOT_READ = (
        "option_not_read",
        WARNING,
        "The value of an option could not be understood.",
        "The columns made from it are NA",
    )
    INTERVALS_LEFT_OUT = (
        "intervals_left_out",
        WARNING,
        "An output tells the rates of more intervals than are read; all of them are left out.",
        "Read fewer time spans at once, or measure with longer intervals (diskspd: -D)",
    )
    BYTES_OF_THE_RAMP = (
        "bytes_of_the_ramp",
        INFO,
        "fio counted the bytes, but not the I/Os, of what was under way when the ramp ended: the throughput "
        "is too high by as much.",
        "Take the IOPS, and IOPS times block size as the throughput; a longer run makes the error smaller",
    )
    BLOCK_SIZE_VARIES = "block_size_varies", INFO, "The job used block sizes from a range or a list."
    UNEXPECTED_VALUE = (
        "unexpected_value",
        WARNING,
        "A value is of another kind than fio writes in this place.",
        "Left out of the tables",
    )
    NOT_A_NUMBER = "not_a_number", WARNING, "A value is nan or inf.", "Left out of the tables"
    NO_JOB_HEADER = (
        "no_job_header",
        WARNING,
        "The header of a job is missing in fio's text, so its name is not certain.",
        "Check the name and the options",
    )
    ROUNDED_IOPS = (
        "rounded_iops",
        INFO,
        "The IOPS in fio's text are rounded to few digits, and the number of I/Os is not there.",
        "Use JSON, which is exact",
    )
    ROUNDING_ERROR = (
        "rounding_error",
        WARNING,
        "Some versions of fio round the amount of data in their text wrongly: what is carried over to the "
        "digit before the point is lost.",
        "The larger figure counts; use JSON, which is exact",
    )
    RATES_DISAGREE = (
        "rates_disagree",
        WARNING,
        "A rate that fio printed is not that of the I/Os or bytes and the run time beside it. What was "
        "printed is kept.",
        "Compare with JSON or a log of the same run; lines may have been retyped, or be of several runs",
    )
    REPORT_CUT = (
        "report_cut",
        WARNING,
        "The end of a job's report, or a line with its rates, is missing in fio's text.",
        "What is missing is NA; look for the whole output",
    )
    TRIM_NOT_SHOWN = (
        "trim_not_shown",
        WARNING,
        "Nothing was read or written, and version 3 of terse output shows no trims.",
        "Use --output-format=json+",
    )

    SCRIPT_SUMMARY = (
        "script_summary",
        INFO,
        "The file is a summary that a script made of fio's results. It has a part of them, often rounded; "
        "options that it leaves out are those that the script always gives.",
    )

    # ---- job files of fio -------------------------------------------------------------------------------
    TOO_MANY_JOBS = (
        "too_many_jobs",
        WARNING,
        "A job file has more jobs than fio takes; the sections after them were left out.",
    )
    OPTION_WITHOUT_SECTION = (
        "option_without_section",
        WARNING,
        "An option stands before the first section of a job file.",
    )
    VARIABLE_NOT_RESOLVED = (
        "variable_not_resolved",
        INFO,
        "An option has an environment variable or an expression, which only the run itself could resolve.",
    )
    INCLUDE_NOT_READ = (
        "include_not_read",
        WARNING,
        "A job file includes a file that is not in its folder, or is too large.",
        "Put it beside the job file",
    )
    INCLUDE_WITH_SECTION = (
        "include_with_section",
        WARNING,
        "An included file holds sections of its own, which were left out.",
    )
    INCLUDED = "included", INFO, "The file was read because a job file includes it."

    # ---- logs -------------------------------------------------------------------------------------------
    LOG_METRIC_UNKNOWN = (
        "log_metric_unknown",
        WARNING,
        "The name of a log does not tell what it measures.",
        "Name it as fio does: NAME_bw.1.log, NAME_iops.1.log, NAME_lat.1.log, …",
    )
    LOG_UNIT_ASSUMED = (
        "log_unit_assumed",
        WARNING,
        "No output of the run tells the unit of the latencies in a log; ns were assumed.",
        "Keep the log beside the JSON of its run, or say --log-unit us or ns; fio 2 writes µs, which come "
        "out 1000 times too small",
    )
    LOG_WINDOW_MAXIMUM = (
        "log_window_maximum",
        INFO,
        "The log has the average and the largest value of each window; the average is kept.",
    )
    LOG_EPOCH_TIME = (
        "log_epoch_time",
        INFO,
        "The times of a log are those of the wall clock; they are counted from its first sample.",
    )
    LOG_BINNED = (
        "log_binned",
        INFO,
        "A log has too many latencies to keep each of them; they are counted in fio's bins, by window of "
        "time.",
        "Read exact percentiles by window with azbench read LOG --window 1s",
    )
    LOG_AVERAGED = (
        "log_averaged",
        WARNING,
        "The values of a log are averages over time, from which no percentile can be had.",
        "Log each I/O, or write a histogram log (write_hist_log)",
    )
    LOG_DISAGREES = (
        "log_disagrees",
        WARNING,
        "The mean of a log of IOPS or bandwidth is another than the rate in the summary of its run.",
        "Look whether the log is of another run, or of one of several jobs",
    )
    RATE_OF_LOGS = (
        "rate_of_logs",
        INFO,
        "No output tells the rates of a run; they are the means of its logs of IOPS and bandwidth. Logs of "
        "one name are of jobs that ran at once, for all that is known.",
        "Keep fio's output (--output-format=json+) beside its logs",
    )
    HIST_LAYOUT_UNKNOWN = (
        "hist_layout_unknown",
        ERROR,
        "A histogram log has a number of bins that no known version of fio writes.",
        "Known: 1216 and 1856, ÷ 1, 2, 4 … 64",
    )
    HIST_COARSE = (
        "hist_coarse",
        INFO,
        "Several bins of a histogram log were merged into one, so percentiles made from it are less exact.",
        "Run with log_hist_coarseness=0 for 0.8 %",
    )
    HIST_LAST_INTERVAL = (
        "hist_last_interval",
        INFO,
        "I/Os after the last whole interval are not in a histogram log.",
        "Take totals from the run's json+",
    )
    NO_START = (
        "no_start",
        ERROR,
        "The first line of a log of emulated disks does not say when the log begins.",
        "Its samples are left out, for they have no times",
    )
    SEVERAL_LOGS = (
        "several_logs",
        WARNING,
        "One file holds several logs of emulated disks.",
        "Keep each in a file of its own",
    )

    # ---- iozone -----------------------------------------------------------------------------------------
    IOZONE_MESSAGE = "iozone_message", ERROR, "iozone wrote an error message into its output."
    TEST_UNKNOWN = (
        "test_unknown",
        ERROR,
        "The name of a file of latencies does not tell which test of iozone it is from.",
        "Give it the name that iozone gave it",
    )
    NEGATIVE_LATENCY = (
        "negative_latency",
        WARNING,
        "Some latencies are below zero, because the clock was set back.",
        "Left out; the clock was set back",
    )
    BELOW_RESOLUTION = (
        "below_resolution",
        INFO,
        "A mean latency is 0 µs, for iozone cuts off parts of a microsecond.",
        "iozone cuts off parts of a microsecond",
    )
    ZERO_RATE = (
        "zero_rate",
        WARNING,
        "A rate is zero, though whatever ran has a rate above zero; it is NA in the tables.",
        "Measure again: whatever ran has a rate above 0",
    )
    CPU_IS_A_SUM = (
        "cpu_is_a_sum",
        INFO,
        "iozone reports user and system CPU as one sum, which stands as usr_cpu_pct.",
    )
    TIMER_RESOLUTION = (
        "timer_resolution",
        WARNING,
        "iozone reported that the timer of the machine is coarse.",
        "Do not rely on the smallest files",
    )
    REPORT_DIFFERS = (
        "report_differs",
        WARNING,
        "The report of iozone (-R) differs from its rows.",
        "The rows count",
    )
    PROCESSES_UNEVEN = (
        "processes_uneven",
        WARNING,
        "In throughput mode, the processes ran for different times, so their sum is not a rate they had "
        "together.",
        "Use larger files (-s), so that all processes run at the same time for most of the test",
    )
    SHEET_NOT_READ = (
        "sheet_not_read",
        INFO,
        "A sheet of a spreadsheet has no report as iozone writes it.",
        "Its figures are in no table",
    )
    BROKEN_SHEET = "broken_sheet", ERROR, "A spreadsheet is damaged or refused."
    FIGURE_NOT_READ = "figure_not_read", WARNING, "A cell of a report is no figure.", "Left out"
    FIGURE_TWICE = (
        "figure_twice",
        WARNING,
        "A figure is there twice; the first one counts.",
    )

    # ---- diskspd and IOMeter ----------------------------------------------------------------------------
    DISKSPD_MESSAGE = "diskspd_message", ERROR, "diskspd wrote an error message into its output."
    TABLE_LEFT_OUT = (
        "table_left_out",
        INFO,
        "A table of diskspd has no place in the tables of azbench.",
        "Read them in the file itself",
    )
    HEADING_MISSING = (
        "heading_missing",
        WARNING,
        "A heading 'Results for timespan' is missing.",
        "The figures were taken for those of the next requested time span",
    )
    BROKEN_XML = "broken_xml", ERROR, "The XML is damaged or refused.", "Run it again to the end"
    NO_RUNTIME = (
        "no_runtime",
        ERROR,
        "A time span has no measured time, so its rates are missing.",
        "Run it again to the end",
    )
    TOO_MANY = "too_many", WARNING, "A configuration describes more runs than are kept."

    # ---- published figures ------------------------------------------------------------------------------
    VALUE_NOT_READ = (
        "value_not_read",
        ERROR,
        "A published value is no number, below zero, or beyond all measure.",
    )
    UNIT_NOT_READ = "unit_not_read", ERROR, "The unit of a published figure is not known."
    BOUND_NOT_READ = "bound_not_read", ERROR, "The bound of a published figure is none of =, >, < and ~."
    STATISTIC_NOT_STATED = (
        "statistic_not_stated",
        WARNING,
        "A publication does not say which statistic its rate is.",
        "Treat it as approximate; run again to know",
    )
    APPROXIMATE = "approximate", INFO, "A published rate is an approximate figure."
    CELL_NOT_READ = (
        "cell_not_read",
        WARNING,
        "A cell that describes a published run is no number of its kind.",
        "Left out",
    )

    # ---- how a run was made -----------------------------------------------------------------------------
    PAGE_CACHE_SUSPECTED = (
        "page_cache_suspected",
        (WARNING, INFO),
        "The run was buffered (fio direct=0, iozone without -I), so it may have measured main memory. It is "
        "only worth knowing where the file is at least twice as large as the memory.",
    )
    AZURE_MONITOR = (
        "counted_by_azure",
        (INFO, WARNING),
        "What Azure Monitor counted during the run, beside the figure of the tool, and what share of a limit "
        "it says was used. It is a warning where the two rates are more than 10 % apart.",
    )
    TOO_SHORT = (
        "too_short",
        WARNING,
        "The run took less than 30 s. Limits are enforced only approximately over short intervals, and burst "
        "credits, full caches and the clean-up of an SSD do not show.",
        "Run again with --time_based --runtime=60; for burst credits, longer than 30 min",
    )
    VERIFIED = (
        "verified",
        INFO,
        "fio read back what the job had written (verify). Those reads are in the tables, and in no rate of a "
        "report or a verdict: they followed the writes, so that the two rates do not add up.",
    )
    ENDED_BY_SIZE = (
        "ended_by_size",
        INFO,
        "The job had done all its data before its time was over, so parallel jobs may have ended one by one.",
    )
    RATE_FROM_STATUS_LINE = (
        "rate_from_status_line",
        WARNING,
        "A rate was taken from fio's status line (with the ETA): the last moment, not the mean of the run.",
        "Run again with --output-format=json+",
    )
    TOO_FEW_SAMPLES = (
        "too_few_samples",
        (WARNING, INFO),
        "A percentile rests on fewer I/Os than bound it from above with 95 % confidence. p99 needs 368, "
        "p99.9 3,688, p99.99 36,887, and more where I/Os are correlated. Above p99 it is only worth knowing.",
    )

    # ---- whether figures fit each other -----------------------------------------------------------------
    PERCENTILE_OFF_GRID = (
        "percentile_off_grid",
        WARNING,
        "A latency percentile of fio is none of the values that fio's histogram can give. fio reports the "
        "midpoint of a bin, rounded up to whole µs or ms in its text. A value in between was mistyped, "
        "averaged or made by another program. Above 4 ms the check finds nearly every wrong value, below "
        "0.4 ms about every second one.",
        "Compare with fio's own output; percentiles that were retyped or averaged are not valid",
    )
    BEYOND_THE_HISTOGRAM = (
        "beyond_the_histogram",
        (WARNING, INFO),
        "A percentile lies in the last bin of fio's histogram, which holds all that took 17 s or longer. fio "
        "reports it as 17 s (16.7 s before fio 3.0), whatever it was. The longest latency is true. Above "
        "p99 it is only worth knowing.",
        "Quote it as a lower bound; a smaller queue depth brings latencies back into the histogram",
    )
    LATENCIES_OUT_OF_ORDER = (
        "latencies_out_of_order",
        WARNING,
        "Latencies of one direction contradict each other, so at least one of them is wrong. Least, mean and "
        "largest must come in this order, a rarer percentile must not be smaller, and none can be outside of "
        "least and largest. What the rounding of a tool explains is not reported.",
        "Compare with the tool's own output; quote none of them before",
    )
    RATE_MISMATCH = (
        "rate_mismatch",
        WARNING,
        "IOPS times block size differs from the throughput by more than 1 %. One of the three belongs to "
        "another run, or its unit was misread (KiB/s for KB/s is 2.4 %). Runs with several block sizes and "
        "approximate figures are not checked.",
    )
    LOAD_MISMATCH = (
        "load_mismatch",
        (WARNING, INFO),
        "By Little's law another number of I/Os was outstanding than requested, by more than 5 %. N = IOPS × "
        "mean total latency. Fewer: the job could not keep its queue full, because of a rate limit, think "
        "time, flushes or CPU. More: the figures are not of one run, or of more jobs than the options say.",
    )
    ZERO_FOR_MISSING = (
        "zero_for_missing",
        WARNING,
        "A rate or latency is zero although I/O was done: a missing value was written as zero.",
        "Take the zero as missing; leave the cell empty in a table",
    )

    # ---- verdicts ---------------------------------------------------------------------------------------
    SETUP_NOT_KNOWN = (
        "setup_not_known",
        WARNING,
        "Neither VM size nor disks are stated, so no documented limit can be compared with the rate.",
        "Add --vm and --disk",
    )
    LIMITS_NOT_KNOWN = (
        "limits_not_known",
        WARNING,
        "The catalogue does not have the limits of a VM size or a disk that the setup names.",
    )
    HOST_CACHING_DOUBTFUL = (
        "host_caching_doubtful",
        WARNING,
        "The setup names host caching on a VM size that does not support it, as Azure's pages say, or whose "
        "cached limit is not documented. Where it is not supported, the disk is judged without it.",
        "Check VM size and host caching; a cached limit that is not documented may not hold",
    )
    VM_SIZE_RETIRES = (
        "vm_size_retires",
        INFO,
        "Azure has announced the day from which it no longer runs the VM size, or no longer runs it.",
        "Measure the size that comes after it; `azbench advise` names some",
    )
    OLDEST_PAGE_TAKEN = (
        "oldest_page_taken",
        INFO,
        "No page of the run's day is at hand, so the limits of the oldest one are taken for it.",
        "They may have been others then",
    )
    NOT_DECIDABLE = "not_decidable", WARNING, "What is stated of the run allows no verdict."
    UNKNOWN_CASE_KEY = (
        "unknown_case_key",
        WARNING,
        "A key of a case is not known, and was not used.",
        "Correct its name, or leave it out",
    )
    NO_STORAGE_VERDICT = "no_storage_verdict", INFO, "The case says nothing about what limits storage."
    NO_DOCUMENTED_LIMIT = (
        "no_documented_limit",
        INFO,
        "No limit is documented for this I/O on this setup.",
        "Find the plateau: double the queue depth until the rate stays",
    )
    ABOVE_DOCUMENTED_LIMIT = (
        "above_documented_limit",
        WARNING,
        "The rate is more than 1.15 times every documented limit, so one of these figures does not hold.",
        "Check VM size, disk, caching and the date",
    )
    BASE_NOT_SEEN = (
        "base_not_seen",
        INFO,
        "The run burst and ended before full credits are spent, so it cannot show the base limit.",
    )
    FIGURES_DIFFER = (
        "figures_differ",
        INFO,
        "A page and the resource-SKU API print different figures for the limit that is named. A rate up to "
        "the higher one is not above it.",
    )
    BURST_NOT_KNOWN = (
        "burst_not_known",
        INFO,
        "The rate is above the VM's uncached limit, and no page at hand prints that limit: the size may "
        "burst, to a figure that is not known.",
    )
    STALL = (
        "stall",
        WARNING,
        "A single I/O took a good part of the run, though nearly all others were fast. The mean and the "
        "percentiles do not show such a stall.",
        "Run again with rate_process=poisson and a rate limit",
    )
    RATE_FROM_LATENCY = (
        "rate_from_latency",
        INFO,
        "The run has no rate of its own; the rate follows from latency and queue depth by Little's law.",
    )
    SEVERAL_LEVELS = (
        "several_levels",
        INFO,
        "The logged rate has several levels. The verdict is on the longest of them.",
        "Burst credits or the cache were probably exhausted during the run",
    )
    FITS_MIB = "fits_mib", INFO, "The rate fits the documented figure read as MiB/s instead of MB/s."
    FITS_OTHER_ROW = (
        "fits_other_row",
        INFO,
        "The rate fits another documented figure of the same limit.",
        "Check the date of the measurement",
    )
    FITS_SWAPPED = (
        "fits_swapped",
        INFO,
        "The rate fits the limit of the other column: some pages have cached and uncached limits swapped.",
    )
    CACHING_RATIO = (
        "caching_ratio",
        WARNING,
        "The same test on the same kind of disk was at least three times as fast with another host "
        "caching, and no verdict explains it.",
        "Run both again with direct I/O, alternating between them",
    )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong with an input or makes a result doubtful, with its figures, and what to do next.

    `source_path` and `run_id` say what it is about, where that is one file or run.
    """

    code: Code
    severity: Severity
    message: str
    advice: str = ""
    source_path: str | None = None
    run_id: str | None = None

    @classmethod
    def of(
        cls,
        code: Code,
        message: str,
        advice: str | None = None,
        severity: Severity | None = None,
        **about: str | None,
    ) -> Finding:
        """A finding with the severity and the advice of its code, unless others are given.

        Raises
        ------
        ValueError
            When the code has no such severity.
        """
        severity = severity or code.severities[0]
        if severity not in code.severities:
            raise ValueError(f"{code} is never of severity {severity}")
        advice = code.advice if advice is None else advice
        return cls(code=code, severity=severity, message=message, advice=advice, **about)

    def row(self) -> dict[str, Any]:
        """The row of the table findings."""
        return {
            "run_id": self.run_id,
            "source_path": self.source_path,
            "severity": self.severity.value,
            "code": self.code.value,
            "message": self.message,
            "advice": self.advice or None,
        }


def job_label(source_path: str, job: str | None) -> str:
    """What a message about a job begins with."""
    return source_path if job is None else f"{source_path}: job '{job}'"


def without_label(message: str, source_path: str, job: str | None) -> str:
    """A message without what it begins with, for where the file and the job are named already."""
    return message.removeprefix(f"{job_label(source_path, job)}: ").removeprefix(f"{source_path}: ")
