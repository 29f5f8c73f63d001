"""Answers that students typed, or may: of each exercise the right one in several spellings, and wrong ones.

A wrong answer has beside it a part of the sentence that names what is behind it, or None where that is not
known.
"""

from random import Random

from azbenchlib.lessons.answers import IN_IOPS, IN_MB_PER_S
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises import (
    burst,
    caches,
    cases,
    flush,
    nested,
    queue,
    reading,
    redundancy,
    repeats,
    tails,
    throttle,
    units,
)

SEEDED = Random(5)  # noqa: S311  not for secrets
KNOWN: list[tuple[Exercise, tuple[str, ...], dict[str, str | None]]] = [
    (
        units.rate_of_large_blocks(20_000, 750, 256),
        ("2861.02 IOPS", "2.86k", "2 861", "2,861", "~2861"),
        {
            "5243": "20,000 IOPS × 256 KiB. That is a rate of bytes",
            "750": "750 MB/s. That is a rate of bytes",
            "22,861": "both limits added",
            "2.86": "1,000 times too small",
        },
    ),
    (
        units.throughput_of_small_blocks(500, 200, 4),
        ("2.048", "2.05 MB/s", "2048 kB/s", "16.384 Mbit/s", "1.953 MiB/s"),
        {"2048": "1,000 times too large", "0.25": None, "125": "500 IOPS ÷ 4 KiB", "2 MiB/s": "1,024"},
    ),
    (
        queue.rate_below_the_knee(5_000, 3.2, 5),
        ("1562", "1.56k", "1,562.5", "1562 IOPS", "1.5625e3"),
        {
            "1000": "the limit shared",
            "25000": "5,000 IOPS × 5 I/Os",
            "1.5625": "1,000 times too small",
            "16": "3.2 ms × 5 I/Os",
        },
    ),
    (
        queue.latency_above_the_knee(500, 3.2, 32),
        ("64", "64 ms", "0.064 s", "64000 µs", "64.0"),
        {
            "60.8": "the waiting alone",
            "15.6": "limit ÷ queue",
            "0.064": "1,000 times too small",
            "62": "only the others",
        },
    ),
    (
        throttle.time_that_is_waited(500, 2.5, 24),
        ("45.5", "45.5 ms", "0.0455 s", "45,5", "45.50"),
        {
            "47.5": "a tick less the latency",
            "25": "half a tick",
            "50": "the tick for the wait",
            "0.0455": "1,000 times too small",
            "57.5": "each waits for all others",
        },
    ),
    (
        throttle.least_queue_at_the_limit(5_000, 2.2, 256),
        ("11", "11 I/Os", "11.0", "about 11", "11 outstanding"),
        {"1": None, "261": "tick and latency added", "16": None, "12": None, "245": "those that wait"},
    ),
    (
        nested.of_a_stripe(nested.striped("D4s_v3", "P20", 2), 128, IN_IOPS),
        ("732", "732.42", "0.732k", "732 IOPS", "732/s"),
        {
            "4600": "2 disks × 2,300 IOPS",
            "2300": "2,300 IOPS. That is a number of the question",
            "750": "1,024",
            "768": "1,024",
        },
    ),
    (
        nested.of_a_stripe(nested.striped("D16s_v3", "P15", 8), 4, IN_MB_PER_S),
        ("36", "36.04", "36.0448 MB/s", "36,04", "34.375 MiB/s"),
        {
            "104.9": "25,600 IOPS × 4 KiB",
            "1000": "8 disks × 125 MB/s",
            "125": "125 MB/s. That is a number of the question",
            "35.2": "1,024",
            "262": "262.144 MB/s",
            "34.4": "1,024",
        },
    ),
    (
        burst.time_until_empty("P20", 2_900),
        ("60", "1 h", "3600 s", "60 min", "60 minutes"),
        {
            "36.2": "time in proportion to the rate",
            "14.5": None,
            "15": "shorter instead of longer",
            "3600": "60 times too large",
        },
    ),
    (
        burst.time_to_refill("P10", 300),
        ("7.5", "450 min", "7.5 h", "7,5", "27000 s"),
        {
            "5": "filled by what is used",
            "1.875": "base rate and load added",
            "0.47": "filled by the burst",
            "450": "60 times too large",
        },
    ),
    (
        burst.mean_of_a_long_run("P20", 180),
        ("2500", "2,500", "2.5k", "2500 IOPS", "2500/s"),
        {"2600": None, "3300": "burst and base exchanged"},
    ),
    (
        caches.share_of_hits(100, 520),
        ("19.2", "19.23 %", "0.192", ".192", "19,2 %"),
        {
            "5.2": "520 GiB ÷ 100 GiB",
            "520": "520 GiB",
            "0.19": "rounded too much",
            "83.9": "the data as a part of both",
        },
    ),
    (
        caches.mean_latency(50, 250, 100, 800),
        ("0.66", "660 us", "660 µs", "0,66", "0.66 ms"),
        {"0.8": "every read a miss", "0.9": "both latencies added", "20.64": "µs and ms mixed"},
    ),
    (
        caches.rate_of_a_warm_cache(20, 80, 200, 2_500),
        ("519", "519.5", "0.519k", "519 IOPS", "519/s"),
        {
            "2700": "the middle of the two rates",
            "741": "the middle of the two times",
            "1.925": "a time for a rate",
        },
    ),
    (
        tails.p99_of_one_run({2_000: 48_475, 20_000: 1_500, 80_000: 25}),
        ("20", "20 ms", "20000 µs", "0.02 s", "20.0"),
        {"79.2": None, "27.3": None, "34": "the mean of 2 ms, 20 ms and 80 ms"},
    ),
    (
        tails.p99_of_two_hosts({2_000: 88_200, 3_000: 1_800}, {12_000: 4_500, 60_000: 500}),
        ("12", "12 ms", "12000 us", "0.012 s", "12.0"),
        {"15": "3 ms + 12 ms", "63": "two percentiles added"},
    ),
    (
        tails.slow_ios_per_minute(4_400, "p99", 0.01),
        ("2640", "2,640", "2.64k", "2640 I/Os", "2 640"),
        {"158400": "60 times too large", "4356": "the fast ones of a second", "26.4": "two nines too many"},
    ),
    (
        redundancy.writes_over_zones("P50", 3, 1.6, 2.6),
        ("1154", "1,154", "1.154k", "1153.8 IOPS", "1154/s"),
        {
            "2500": "the limit shared by the copies",
            "714": "both latencies added",
            "1.15": "1,000 times too small",
        },
    ),
    (redundancy.price_of_zones(("P40", 5)), ("2137", "2,137.00", "$2137", "2137.03", "2137 USD a month"), {}),
    (
        redundancy.price_of_an_ultra_disk(1_024, 5_000, 600),
        ("730.96", "731 USD", "$730.96", "731", "730.96 USD/month"),
        {"365": "half of the money"},
    ),
    (
        flush.rate_of_a_log(4, 100.0, 1_700.0),
        ("2000", "2k", "2,000 IOPS", "2000/s"),
        {
            "10000": "a flush that costs nothing",
            "588": "a flush after each write",
            "1905": "the cache waits before it writes back",
            "2": "1,000 times too small",
            "500": "one write in the time of all",
        },
    ),
    (
        flush.writes_at_risk("D4s_v3", "P20", 60),
        ("342000", "342,000", "342k"),
        {
            "138000": "nothing is lost",
            "480000": "all of them",
            "5700": "those of one second",
            "342": "1,000 times too small",
        },
    ),
    (
        flush.first_flush("D4s_v3", "P20", 60),
        ("149", "148.7 s", "2.478 minutes"),
        {
            "209": "all writes wait",
            "60": "as long as it was written",
            "42.75": "at the rate of the cache",
            "2.48": "what is left of the time",
        },
    ),
    (
        tails.slow_ios_per_minute(3_000, "p99.9", 0.001),
        ("180", "180 I/Os"),
        {
            "180000": "all I/Os of a minute",
            "10800": "60 times too large",
            "1800": "one nine too few",
            "30": None,
        },
    ),
    (
        redundancy.writes_over_zones("P30", 2, 1.3, 4.8),
        ("417", "416.7"),
        {
            "208": "one write at a time",
            "9.6": "2 writes × 4.8 ms. That is a time",
            "10000": "2 writes × 5,000 IOPS",
            "2500": "half of 5,000 IOPS or 5,000 IOPS ÷ 2 writes",
            "978": None,
        },
    ),
    (
        throttle.time_that_is_waited(1_100, 2.5, 16),
        ("12", "12.05 ms"),
        {"40": "16 I/Os × 2.5 ms", "68.75": "That is a rate of I/Os", "37.5": "each waits", "7.3": None},
    ),
    (
        burst.mean_of_a_long_run("P10", 90),
        ("1500", "1.5k"),
        {"1167": "3,500 IOPS × 30 minutes ÷ 90 minutes", "3000": "3,500 IOPS − 500 IOPS", "833": None},
    ),
    (
        reading.one_paragraph(3_000, 5, 16),
        ("600", "0.6k", "600 IOPS"),
        {
            "3000": "the disk for one job",
            "15000": "a disk for each job",
            "187.5": "shared by the queue depth",
            "37.5": "the rate of one outstanding I/O",
            "0.6": "1,000 times too small",
        },
    ),
    (
        reading.moved(SEEDED, 0.7, 2_000, 8 * 1024, 16),
        ("16.3", "16.35 MB/s", "16350 kB/s"),
        {
            "11.4": "the reads alone",
            "4.9": "the writes alone",
            "15.6": "MiB for MB",
            "8.17": "the mean of both",
        },
    ),
    (
        reading.really_outstanding(SEEDED, 6, 32, True),
        ("6", "6.0", "6 I/Os"),
        {
            "192": "what the job file says",
            "32": "the iodepth of the job file",
            "1": "one job's share",
            "38": "6 + 32",
        },
    ),
    (
        repeats.reach_of_interval(3, 8),
        ("3.2", "3.22 %", "0.0322", "3.2 percent"),
        {
            "3": "the spread of runs for that of their mean",
            "2.27": "one side for both",
            "1.5": "one standard error",
            "9.1": "runs that do not help",
            "1.61": "divided by the runs",
        },
    ),
    (
        repeats.runs_needed(4, 2),
        ("32", "32 runs", "32.0"),
        {
            "16": "one side for both",
            "8": "one standard error",
            "64": "both sides together",
            "128": "four standard errors",
        },
    ),
    (
        cases.one_block_at_a_time(250e6, 32, 1.6, 2),
        ("41", "40.96", "40,960 kB/s", "39.06 MiB/s"),
        {
            "250": "the limit for the rate",
            "39.06": "MiB for MB",
            "125": "half the limit",
            "20.5": "32 KiB ÷ 1.6 ms",
        },
    ),
]
