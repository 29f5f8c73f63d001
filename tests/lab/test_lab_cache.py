"""The emulated host cache: what it holds, what it writes back, and what waits for that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core.units import GIB, KIB, MB, MIB
from azbenchlib.lab.engine.cache import LINE_BYTES, EmulatedCache, lines_of, whole_lines_of
from azbenchlib.lab.engine.simulate import SimulatedJob, rate, simulate
from azbenchlib.lab.engine.virtual_machine import FLUSH, READ, TRIM, WRITE, ZERO, Machine, Options
from azbenchlib.lab.engine.volume import ReadWriteCachedVolume
from azbenchlib.model import VM, Cap, Disk, Load, Setup, deliver

HIT_S, DISK_S = 0.001, 0.1  # below the first, a cached answer; above the second, one of the slow disk
CACHED_VM = VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=20_000, bytes_per_s=500 * MB))


P30, SLOW = Cap(iops=5000, bytes_per_s=200 * MB), Cap(iops=10)


def disk(caching: str, cap: Cap = P30, name: str = "data") -> Disk:
    return Disk(name=name, sku="Premium_LRS", size_bytes=GIB, caching=caching, cap=cap)


class Slow:
    """A machine with one cached disk of 10 IOPS and no latency; I/Os one by one."""

    def __init__(self, caching: str, lines: int = 100, dirty_share: float = 0.5, cap: Cap = SLOW) -> None:
        latency = {"data": "none", "host-cache": "none"}
        options = Options(cache_bytes=lines * LINE_BYTES, dirty_share=dirty_share, latency=latency)
        self.machine = Machine(Setup(VM(), (disk(caching, cap),)), options)
        self.now = 0.0

    def start(self, op: int, offset: int = 0, length: int = LINE_BYTES, fua: bool = False) -> list[float]:
        """The list in which the time of completion will appear."""
        done: list[float] = []
        self.machine.submit("data", op, offset, length, self.now, done.append, fua)
        return done

    def all_done(self) -> None:
        while (then := self.machine.next_event()) is not None:
            self.now = then
            self.machine.advance(then)
        self.now += 10  # the slack of the disk's limit fills again

    def hit(self, offset: int, length: int = LINE_BYTES) -> bool:
        before = self.machine.totals()["data"]["hits"]
        self.all_done()
        self.start(READ, offset, length)
        self.all_done()
        return self.machine.totals()["data"]["hits"] > before


# lines


def test_lines_of_unaligned_requests() -> None:
    assert list(lines_of(0, 4096)) == [0]
    assert list(lines_of(4095, 2)) == [0, 1]
    assert list(lines_of(2048, 8192)) == [0, 1, 2]
    assert list(whole_lines_of(2048, 8192)) == [1]
    assert list(whole_lines_of(1, 4096)) == []
    assert not lines_of(4096, 0)


def test_the_line_that_was_not_used_for_longest_goes_first() -> None:
    cache = EmulatedCache(3)
    cache.put([1, 2, 3])
    assert cache.has(range(1, 2))
    cache.put([4])
    assert [line for line in range(6) if cache.has(range(line, line + 1))] == [1, 3, 4]


# what a read finds


@pytest.mark.parametrize("caching", ["ReadOnly", "ReadWrite"])
def test_a_read_fills_and_the_next_one_hits(caching: str) -> None:
    slow = Slow(caching)
    assert [slow.hit(8192), slow.hit(8192), slow.hit(4096), slow.hit(8192 + 512, 1024)] == [0, 1, 0, 1]
    assert not slow.hit(8192, 8192)  # a half of it is not enough
    assert slow.hit(8192, 8192)


def test_a_read_that_is_under_way_is_no_hit_yet() -> None:
    slow = Slow("ReadOnly")
    slow.start(READ, MIB)  # what the disk does before
    (first,) = slow.start(READ, 0)
    (second,) = slow.start(READ, 0)
    assert slow.machine.totals()["data"]["misses"] == 3
    assert second - first == pytest.approx(DISK_S)


@pytest.mark.parametrize("caching", ["ReadOnly", "ReadWrite"])
def test_what_was_written_is_found(caching: str) -> None:
    slow = Slow(caching)
    slow.start(WRITE, 4096, 8192)
    assert slow.hit(4096, 8192)


@pytest.mark.parametrize("caching", ["ReadOnly", "ReadWrite"])
def test_a_part_of_a_line_that_was_written_is_no_line(caching: str) -> None:
    slow = Slow(caching)
    slow.start(WRITE, 2048, 8192)  # line 1 whole, a half of 0 and of 2
    assert [slow.hit(4096), slow.hit(0), slow.hit(8192)] == [True, False, False]
    slow.start(WRITE, 512, 512)  # into a line that is there now
    assert slow.hit(0)


def test_a_part_written_and_then_read_is_a_line_before_it_is_on_the_disk() -> None:
    slow = Slow("ReadWrite")
    for offset in range(0, 10 * LINE_BYTES, LINE_BYTES):
        slow.start(WRITE, offset, 512)
    slow.start(READ, 9 * LINE_BYTES)
    slow.now = 0.5  # the read is through, most writes are not
    slow.start(FLUSH)
    drive = slow.machine.volumes["data"]
    assert isinstance(drive, ReadWriteCachedVolume)
    assert len(slow.machine.cache) == len(drive.back) > 0  # no line is there twice
    slow.all_done()
    assert slow.hit(9 * LINE_BYTES)
    assert not slow.hit(5 * LINE_BYTES)


@pytest.mark.parametrize("op", [TRIM, ZERO])
@pytest.mark.parametrize("caching", ["ReadOnly", "ReadWrite"])
def test_trim_and_zero_drop_lines(caching: str, op: int) -> None:
    slow = Slow(caching)
    slow.start(WRITE, 0, 8 * LINE_BYTES)
    slow.all_done()
    slow.start(op, LINE_BYTES, GIB - LINE_BYTES)
    assert [slow.hit(0), slow.hit(LINE_BYTES)] == [True, False]


def test_what_is_trimmed_before_it_is_written_back_need_not_be() -> None:
    slow = Slow("ReadWrite")
    for offset in range(0, 20 * LINE_BYTES, LINE_BYTES):
        slow.start(WRITE, offset)
    slow.start(TRIM, 0, GIB)
    slow.all_done()
    assert slow.machine.totals()["data"]["counted_ios"] == pytest.approx(2, abs=1)
    assert not any(slow.hit(offset) for offset in range(0, 20 * LINE_BYTES, LINE_BYTES))


def test_volumes_have_lines_of_their_own() -> None:
    setup = Setup(VM(), (disk("ReadOnly"), disk("ReadOnly", name="other")))
    machine = Machine(setup, Options(cache_bytes=MIB))
    for name, now in (("data", 0.0), ("other", 1.0), ("data", 2.0)):
        machine.submit(name, READ, 0, LINE_BYTES, now, lambda due: None)
    assert [machine.totals()[name]["hits"] for name in ("data", "other")] == [1, 0]


@pytest.mark.parametrize(("times", "iops"), [(0.5, 20_000), (1, 20_000), (2, 10_000), (4, 5000 / 0.75)])
@pytest.mark.sampled(2)
def test_the_hit_curve(times: float, iops: float) -> None:
    cache = 4 * MIB
    machine = Machine(Setup(CACHED_VM, (disk("ReadOnly"),)), Options(cache_bytes=cache))
    job = SimulatedJob(volume="data", queue_depth=64, working_set_bytes=int(times * cache))
    simulate(machine, job, 3)
    machine.live(3)
    ios = simulate(machine, job, 2.5, start=3)
    assert rate(ios, "data", 0.5, 2.5) == pytest.approx(iops, rel=0.02)
    hits = machine.live(5.5)["data"]["cache_hit_ratio"]
    assert hits == pytest.approx(min(1, 1 / times), abs=0.02)


# writing through and back


def test_readonly_writes_wait_for_the_disk_and_readwrite_writes_do_not() -> None:
    for caching, until in (("ReadOnly", DISK_S), ("ReadWrite", 0.0)):
        slow = Slow(caching)
        done = [slow.start(WRITE, i * LINE_BYTES) for i in range(5)]
        slow.all_done()
        assert [due for (due,) in done] == pytest.approx([i * until for i in range(5)], abs=0.02)


def test_hits_and_disk_have_the_latencies_that_were_published() -> None:
    setup = Setup(CACHED_VM, (disk("ReadWrite"),))
    ios = simulate(Machine(setup), SimulatedJob(volume="data", read_share=0, working_set_bytes=64 * MIB), 0.5)
    assert ios["lat_us"].median() == pytest.approx(51, rel=0.05)
    ios = simulate(Machine(setup), SimulatedJob(volume="data"), 5)
    assert ios["lat_us"].median() == pytest.approx(2474, rel=0.02)


def test_fua_waits_for_the_disk() -> None:
    slow = Slow("ReadWrite")
    slow.start(WRITE, 0)
    slow.start(WRITE, LINE_BYTES)
    done = slow.start(WRITE, 2 * LINE_BYTES, fua=True)
    slow.all_done()
    assert done[0] > 0.9 * DISK_S
    assert slow.hit(2 * LINE_BYTES)


def test_writes_stall_when_too_much_is_unwritten() -> None:
    slow = Slow("ReadWrite", lines=20, dirty_share=0.5)
    done = [slow.start(WRITE, i * LINE_BYTES) for i in range(30)]
    slow.all_done()
    assert [due for (due,) in done[:11]] == [0.0] * 11  # ten, and one that the disk took at once
    assert [due for (due,) in done[11:]] == pytest.approx([DISK_S * i for i in range(1, 20)], abs=0.02)
    assert slow.machine.totals()["data"]["stalls"] == 19


def test_a_small_write_does_not_overtake_a_large_one_that_waits_for_room() -> None:
    slow = Slow("ReadWrite", lines=20)
    for i in range(9):
        slow.start(WRITE, i * LINE_BYTES)
    large, small = slow.start(WRITE, MIB, 5 * LINE_BYTES), slow.start(WRITE, 2 * MIB)
    slow.all_done()
    assert [*large, *small] == pytest.approx([3 * DISK_S, 4 * DISK_S], abs=0.02)


def test_a_write_of_what_is_unwritten_anyway_does_not_stall() -> None:
    slow = Slow("ReadWrite", lines=20)
    for i in range(12):
        slow.start(WRITE, i * LINE_BYTES)
    assert slow.start(WRITE, 8 * LINE_BYTES) == [0.0]


def test_a_write_larger_than_the_room_goes_through() -> None:
    slow = Slow("ReadWrite", lines=20)
    slow.start(WRITE, 0)
    done = slow.start(WRITE, 0, 11 * LINE_BYTES)
    slow.all_done()
    assert done[0] > 0.5 * DISK_S


def test_once_the_cache_is_full_of_unwritten_data_the_disk_sets_the_rate() -> None:
    setup = Setup(CACHED_VM, (disk("ReadWrite", Cap(iops=2000, bytes_per_s=100 * MB)),))
    machine = Machine(setup, Options(cache_bytes=64 * MIB))
    ios = simulate(
        machine,
        SimulatedJob(volume="data", queue_depth=64, bs_bytes=8 * KIB, read_share=0, sequential=True),
        4,
    )
    for window, destaged in (((0.05, 0.2), False), ((1, 4), True)):
        said = deliver(setup, [Load(volume="data", read_share=0, bs_bytes=8 * KIB, destaged=destaged)]).iops
        assert rate(ios, "data", *window) == pytest.approx(said, rel=0.01)


def test_parts_of_lines_are_written_back_as_parts() -> None:
    slow = Slow("ReadWrite", cap=Cap(bytes_per_s=10_240))
    for i in range(10):
        slow.start(WRITE, i * LINE_BYTES, 512)
    slow.start(WRITE, 9 * LINE_BYTES + 512, 512)  # with the part beside it
    slow.start(WRITE, 20 * LINE_BYTES, LINE_BYTES)
    flushed = slow.start(FLUSH)
    slow.all_done()
    assert flushed == pytest.approx([(11 * 512) / 10_240], abs=0.02)  # the last starts when these are through


def test_writing_back_counts_large_writes_as_the_disk_does() -> None:
    slow = Slow("ReadWrite", lines=1000)
    slow.start(WRITE, 0, 512 * KIB)
    slow.all_done()
    assert slow.machine.totals()["data"]["counted_ios"] == 2


# flush


def test_flush_waits_for_what_was_written_before_and_for_nothing_later() -> None:
    slow = Slow("ReadWrite")
    for i in range(5):
        slow.start(WRITE, i * LINE_BYTES)
    first = slow.start(FLUSH)
    for i in range(5, 10):
        slow.start(WRITE, i * LINE_BYTES)
    second = slow.start(FLUSH)
    assert first == second == []
    slow.all_done()
    assert first == pytest.approx([4 * DISK_S], abs=0.02)
    assert second == pytest.approx([9 * DISK_S], abs=0.02)


def test_flush_does_not_wait_for_a_write_that_is_not_accepted_yet() -> None:
    slow = Slow("ReadWrite", lines=20)
    for i in range(15):
        slow.start(WRITE, i * LINE_BYTES)
    flushed = slow.start(FLUSH)
    slow.all_done()
    assert flushed == pytest.approx([10 * DISK_S], abs=0.02)  # eleven were accepted


def test_flush_waits_for_a_line_that_is_written_again_on_its_way() -> None:
    slow = Slow("ReadWrite")
    for i in range(5):
        slow.start(WRITE, i * LINE_BYTES)
    slow.start(WRITE, 0)  # the first one left at once
    flushed = slow.start(FLUSH)
    slow.all_done()
    assert flushed == pytest.approx([5 * DISK_S], abs=0.02)


@pytest.mark.parametrize("caching", ["None", "ReadOnly", "ReadWrite"])
def test_flush_with_nothing_to_wait_for_completes_at_once(caching: str) -> None:
    slow = Slow(caching)
    assert slow.start(FLUSH) == [0.0]
    slow.start(WRITE, 0)
    slow.all_done()
    assert slow.start(FLUSH) == [slow.now]


# laws

requests = st.lists(
    st.tuples(
        st.sampled_from([READ, WRITE, WRITE, WRITE, FLUSH, TRIM, ZERO]),
        st.integers(0, 40 * LINE_BYTES),
        st.integers(1, 6 * LINE_BYTES),
        st.floats(0, 0.3),
        st.booleans(),
    ),
    max_size=60,
)


@given(requests, st.integers(2, 30), st.floats(0.1, 1))
def test_never_more_than_allowed_and_each_request_is_answered_once(
    wanted: list[tuple[int, int, int, float, bool]], lines: int, dirty_share: float
) -> None:
    slow = Slow("ReadWrite", lines, dirty_share)
    drive = slow.machine.volumes["data"]
    assert isinstance(drive, ReadWriteCachedVolume)
    answers = []
    for op, offset, length, wait, fua in wanted:
        slow.now += wait
        submitted = slow.now
        answers.append((submitted, slow.start(op, offset, length, fua and op == WRITE)))
        assert len(drive.back) <= drive.back.most <= max(1, lines * dirty_share)
        assert len(slow.machine.cache) <= lines
    slow.all_done()
    assert all(len(done) == 1 and done[0] >= submitted for submitted, done in answers)
    assert len(drive.back) == 0 == slow.machine.cache.unwritten
    assert drive.outstanding(slow.now) == 0
