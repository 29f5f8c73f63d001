"""`azbench size` as a user meets it: its text, its JSON, its refusals."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.cli.size import size
from azbenchlib.core.errors import InputError

app = typer.Typer()
app.command()(size)
BEGUN = datetime(2026, 11, 16, tzinfo=UTC)  # a Monday
OPTIONS = ("--size", "1TiB", "--region", "westeurope", "--as-of", "2026-11-20")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100", "NO_COLOR": "1"})


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert isinstance(done.exception, InputError) and not done.stdout, done.exception
    return str(done.exception)


@pytest.fixture(scope="module")
def busy_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days at a minute: 800 IOPS of 16 KiB, and 6,000 from Tuesday 02:10 on for 40 minutes."""
    statistics = []
    for minute in range(2 * 1440 + 1):
        end = BEGUN + timedelta(minutes=minute)
        busy = timedelta(days=1, hours=2, minutes=10) < end - BEGUN <= timedelta(days=1, hours=2, minutes=50)
        iops = 6000 if busy else 800
        disk = {"disk_device": "sdc", "r/s": iops * 0.75, "w/s": iops * 0.25, "rkB/s": iops * 12.0}
        disk |= {"wkB/s": iops * 4.0, "r_await": 1.0, "w_await": 1.0, "aqu-sz": 1.0}
        statistics.append({"timestamp": f"{end:%Y-%m-%dT%H:%M:%S}+0000", "disk": [disk]})
    host = {"nodename": "db1", "date": "2026-11-16", "statistics": statistics}
    path = tmp_path_factory.mktemp("telemetry") / "iostat.json"
    path.write_text(json.dumps({"sysstat": {"hosts": [host]}}))
    return path


def test_json_has_the_design_the_next_cheaper_one_and_what_a_percentile_leads_to(busy_night: Path) -> None:
    one_disk = ("--max-disks", "1")  # two of them cost the least there is
    done = run(str(busy_night), *OPTIONS, *one_disk, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert next(iter(found)) == "version"
    assert found["telemetry"]["hosts"] == {"db1": ["sdc"]}
    assert found["telemetry"]["duration_s"] == 2 * 86_400
    assert found["load"]["iops"] == {"p50": 800.0, "p95": 800.0, "max": 6000.0}
    best, below, ruled = found["cheapest"], found["next_cheaper"], found["by_percentile"]["design"]
    assert best["throttled"]["at_least_s"] <= 60 <= best["throttled"]["at_most_s"]
    assert below["price_per_month"] < best["price_per_month"]
    assert below["throttled"]["probability"] < 0.95 <= best["throttled"]["probability"]
    # the median decides what the percentile leads to: 1.3 times 800 IOPS are throttled all that night
    assert ruled["throttled"]["at_least_s"] > 2400
    (night,) = ruled["throttled"]["times"]
    assert night["begin"] == "2026-11-17T02:10:00+00:00" and night["binding_limits"]


@pytest.mark.long  # tests/sizing have this of the search itself
def test_more_that_may_be_throttled_and_less_load_cost_no_more(busy_night: Path) -> None:
    def price(*more: str) -> float:
        done = run(str(busy_night), *OPTIONS, *more, "--format", "json")
        return json.loads(done.stdout)["cheapest"]["price_per_month"]

    plain = price()
    assert price("--within", "50%", "--held-back", "1d") <= plain
    assert price("--growth", "100%") >= plain


def test_a_record_of_seconds_may_not_be_throttled_all_the_time() -> None:
    """60 s of a record of 3 s would let any disks do."""
    short = Path(__file__).parents[1] / "data" / "sysstat" / "extended.json"
    found = json.loads(run(str(short), *OPTIONS, "--format", "json").stdout)["cheapest"]
    assert found["throttled"]["at_least_s"] == 0
    assert "no VM size in westeurope" in refused(str(short), *OPTIONS, "--headroom", "1e9")


def test_text_says_when_and_which_limit(busy_night: Path) -> None:
    done = run(str(busy_night), *OPTIONS)
    assert done.exit_code == 0
    assert "Tuesday 2026-11-17 02:10 UTC" in done.stdout
    assert "between" in done.stdout and "By the 95th percentile" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_the_vm_has_as_many_vcpus_as_the_host_unless_others_are_stated(tmp_path: Path) -> None:
    """The smallest VMs would do for the disks of a host with 16 processors."""
    disk = {"disk_device": "sdc", "r/s": 500.0, "w/s": 0.0, "rkB/s": 4000.0, "wkB/s": 0.0}
    ends = [BEGUN + timedelta(minutes=minute) for minute in range(11)]
    statistics = [{"timestamp": f"{end:%Y-%m-%dT%H:%M:%S}+0000", "disk": [disk]} for end in ends]
    host = {"nodename": "db1", "number-of-cpus": 16, "date": "2026-11-16", "statistics": statistics}
    file = tmp_path / "host.json"
    file.write_text(json.dumps({"sysstat": {"hosts": [host]}}))

    def designed(*more: str) -> tuple[str, float, str]:
        done = run(str(file), *OPTIONS, "--held-back", "0s", *more)
        answer = json.loads(run(str(file), *OPTIONS, "--held-back", "0s", *more, "--format", "json").stdout)
        vm = answer["recommended"]["vm"]
        assert vm in done.stdout
        vcpus = next(size.vcpus for size in market("westeurope").vms if size.size == vm)
        return vm, vcpus or 0, " ".join(done.stdout.split())

    sentence = "The VM has at least 16 vCPUs, as the recorded host; --vcpus and --ram state others"
    vm, vcpus, text = designed()
    assert vcpus >= 16 and sentence in text
    for stated in (["--vcpus", "2"], ["--vm", "Standard_D*s_v5"]):
        smaller, vcpus, text = designed(*stated)
        assert vcpus < 16 and sentence not in text and smaller != vm


def test_what_cannot_be_is_refused_in_a_sentence(busy_night: Path, tmp_path: Path) -> None:
    assert "write a number" in refused(str(busy_night), "--held-back", "60")
    assert "share between 0 and 1" in refused(str(busy_night), "--within", "2")
    assert "not 1 or more" in refused(str(busy_night), "--headroom", "0.5")
    assert "is no growth" in refused(str(busy_night), "--growth", "much")
    assert "no such disk of db1; there are: sdc" in refused(str(busy_night), "--device", "nvme*")
    assert "no VM size in westeurope" in refused(str(busy_night), *OPTIONS, "--headroom", "1000")
    assert "any disks would do; allow less" in refused(str(busy_night), "--held-back", "9d")
    assert "any disks would do; allow less" in refused(str(busy_night), "--within", "100%")
    assert "--max-disks '65' is not between 1 and 64" in refused(str(busy_night), "--max-disks", "65")
    assert "--burst-factor '0.5' is not 1 or more" in refused(str(busy_night), "--burst-factor", "0.5")
    assert "--interval '0s' is not above 0" in refused(str(busy_night), "--interval", "0s")
    assert "class 'local' with LRS keeps its data" in refused(str(busy_night), "--latency", "local")
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("hello")
    assert "there is no telemetry" in refused(str(nothing))


def test_telemetry_that_was_cut_off_is_told_by_the_exit_code(busy_night: Path, tmp_path: Path) -> None:
    """Of what was cut off nothing could be read; the answer is that of the whole file beside it."""
    text = busy_night.read_text()
    (tmp_path / "cut.json").write_text(text[:100])
    whole = run(str(busy_night), *OPTIONS, "--format", "json")
    both = run(str(busy_night), str(tmp_path / "cut.json"), *OPTIONS, "--format", "json")
    assert (whole.exit_code, both.exit_code) == (0, 2)
    assert "cut.json" in both.stderr and both.stdout == whole.stdout


def means(path: Path, minutes: int) -> str:
    """Two hours of a load that is four times as high in every other interval."""
    begun = datetime(2026, 11, 16, tzinfo=UTC)
    statistics = []
    for place in range(120 // minutes + 1):
        iops = 8000 if place % 2 else 2000
        disk = {"disk_device": "sdc", "r/s": iops, "w/s": 0.0, "rkB/s": iops * 4.0, "wkB/s": 0.0}
        end = begun + timedelta(minutes=minutes * place)
        statistics.append({"timestamp": f"{end:%Y-%m-%dT%H:%M:%S}+0000", "disk": [disk]})
    host = {"nodename": "db1", "date": "2026-11-16", "statistics": statistics}
    path.write_text(json.dumps({"sysstat": {"hosts": [host]}}))
    return str(path)


def test_what_means_do_not_tell_is_told_with_the_recording_that_would(tmp_path: Path) -> None:
    file = means(tmp_path / "coarse.json", 10)
    text = " ".join(run(file, *OPTIONS).stdout.split())
    found = json.loads(run(file, *OPTIONS, "--format", "json").stdout)
    best, even = found["cheapest"], found["cheapest_for_an_even_load"]
    chance = best["throttled"]["probability"]
    assert chance < 0.95 and even["price_per_month"] <= best["price_per_month"]
    assert best["price_per_month"] <= 2 * even["price_per_month"]
    assert found["recommended"]["price_per_month"] <= 1.05 * best["price_per_month"]
    assert text.startswith(
        "The design with the fewest disks within 5% of the cheapest that meets the requirement if the load "
        "comes evenly: "
    )
    assert "Attention: means over 10 min do not tell how the load came within them, and no design" in text
    told = f"{chance:.0%}" if chance >= 0.01 else "less than 1%"
    assert f"60 s at most with a probability of {told}" in text
    assert "record an hour with the highest load at 1 s" in text


def test_a_design_from_means_of_a_minute_has_the_probability_that_is_asked_for(tmp_path: Path) -> None:
    file = means(tmp_path / "minutes.json", 1)
    prices = []
    for confidence in ("0%", "95%", "99%"):
        found = json.loads(run(file, *OPTIONS, "--probability", confidence, "--format", "json").stdout)
        best = found["cheapest"]
        assert best["throttled"]["probability"] >= float(confidence[:-1]) / 100
        prices.append(best["price_per_month"])
    assert prices == sorted(prices) and prices[0] < prices[1]
    text = " ".join(run(file, *OPTIONS).stdout.split())
    assert text.startswith(
        "The design with the fewest disks within 5% of the cheapest that meets the requirement: "
    )
    even = found["cheapest_for_an_even_load"]
    price = f"{even['price_per_month']:,.2f}"
    assert f"if it came evenly, {even['vm']} with {even['disks']}, {price} would do: record" in text
    assert "is not below 1" in refused(file, *OPTIONS, "--probability", "100%")
