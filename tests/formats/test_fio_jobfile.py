"""The reader of fio job files: sections, inheritance, includes, what cannot be resolved."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats.fio import jobfile as fio_jobfile
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"


def read(text: str | bytes) -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return fio_jobfile.read_fio_jobfile(Source("x.fio", data)).frames()


def only(text: str) -> dict[str, Any]:
    (run,) = schema.records(read(text)["runs"])
    return run


def test_a_job_file_says_what_fio_then_did():
    """fio's JSON of the same file, but for global options: it has the last ones for all jobs."""
    described = Dataset.read(DATA / "sections.fio").runs.set_index("job")
    found = Dataset.read(DATA / "sections.json")
    ran = found.runs.set_index("job")
    assert described.index.tolist() == ran.index.tolist()
    same = ["rw", "rwmix_read_pct", "ioengine", "direct", "ramp_s", "runtime_limit_s", "rate_iops", "target"]
    pd.testing.assert_frame_equal(described[same], ran[same])
    same = ["bs_bytes", "bs_write_bytes", "iodepth", "numjobs", "job_index"]
    pd.testing.assert_frame_equal(described.loc[["mix", "split"], same], ran.loc[["mix", "split"], same])
    result = found.results.set_index("run_id").loc[ran.loc["first read", "run_id"]]
    assert described.loc["first read", "bs_bytes"] == result["io_bytes"] / result["ios"] == 4096
    assert described.loc["first read", "iodepth"] == 1  # the later [global] is not for it


def test_what_a_section_says():
    run = only(
        "[global]\nbs=4k\n[a job]\nrw=randrw\nrwmixread=70\nbs=8KiB,64k\niodepth=16\nnumjobs=4\n"
        "ioengine=libaio\n"
        "direct=1\nruntime=2m\nramp_time=500ms\nrate_iops=100\nsize=1g\nfilename=/dev/sda:/dev/sdb\ntime_based\n"
        "fsync=8\nthinktime=1ms\nrandom_distribution=pareto:0.3\nverify=md5\nrate=2m,1m\n"
    )
    wanted = {
        "tool": "fio",
        "level": "job",
        "job": "a job",
        "rw": "randrw",
        "rwmix_read_pct": 70,
        "bs_bytes": 8000,
        "bs_write_bytes": 65536,
        "iodepth": 16,
        "numjobs": 4,
        "queue_depth": 64,
        "ioengine": "libaio",
        "direct": True,
        "runtime_limit_s": 120,
        "ramp_s": 0.5,
        "rate_iops": 200,
        "rate_bytes_per_s": 3 << 20,
        "fsync": 8,
        "fdatasync": 0,
        "thinktime_us": 1000,
        "random_distribution": "pareto:0.3",
        "verify": "md5",
        "working_set_bytes": 1 << 30,
        "target": "/dev/sda:/dev/sdb",
        "time_based": True,
        "job_index": 0,
    }
    assert {name: run[name] for name in wanted} == wanted


def test_what_is_left_out_has_fios_default():
    run = only("[a]\nioengine=psync\n")
    names = ("rw", "bs_bytes", "iodepth", "numjobs", "queue_depth", "direct", "time_based")
    assert [run[name] for name in names] == ["read", 4096, 1, 1, 1, False, False]
    assert run["runtime_limit_s"] is None


def test_a_later_global_adds_to_the_first_and_holds_for_later_jobs_only():
    runs = read("[global]\nbs=8k\nrw=write\n[a]\n[global-too]\nbs=16k\n[b]\n[c]\nrw=read\n")["runs"]
    assert runs["job"].tolist() == ["a", "b", "c"]
    assert runs["bs_bytes"].tolist() == [8192, 16384, 16384]
    assert runs["rw"].tolist() == ["write", "write", "read"]


def test_the_last_word_counts_whatever_it_is_called():
    assert only("[global]\nrw=write\n[a]\nreadwrite=randread\nblocksize=8k\nbs=16k\n")["rw"] == "randread"
    assert only("[a]\nrw=read\nblocksize=8k\nbs=16k\n")["bs_bytes"] == 16384


def test_a_job_may_name_itself():
    assert read("[global]\nname=no\n[a]\nname=b c\n[d]\n")["runs"]["job"].tolist() == ["b c", "d"]


def test_comments_blanks_and_line_ends_do_not_matter():
    plain = only("[a]\nrw=write\nbs=8k\nfilename=/x\n")
    decorated = "; one\n# two\n\n  [a] ; three\r\n  rw = write   # four\r\nbs=8k;five\r\n\tfilename=/x\r\n"
    ids = {"run_id", "source_sha256"}
    dressed = only(decorated)
    assert {k: v for k, v in dressed.items() if k not in ids} == {
        k: v for k, v in plain.items() if k not in ids
    }
    marked = read(b"\xef\xbb\xbf[a]\nrw=write\nbs=8k\nfilename=/x\n")["runs"]
    assert marked["rw"].tolist() == ["write"]
    assert read("[a]\nrw=write\n".encode("utf-16"))["runs"]["rw"].tolist() == ["write"]


@pytest.mark.parametrize("option", ["bsrange=4k-64k", "bssplit=4k/60:64k/40"])
def test_block_sizes_that_vary_are_told_and_not_filled_in(option):
    tables = read(f"[a]\nrw=read\n{option}\n")
    assert tables["runs"]["bs_bytes"].isna().all()
    assert "block_size_varies" in set(tables["findings"]["code"])


@pytest.mark.parametrize("value", ["${SIZE}", "$pagesize", "{{ size }}", "4*${N}"])
def test_what_only_the_shell_or_fio_resolves_is_left_as_typed(value):
    tables = read(f"[a]\nrw=read\nbs={value}\nfilename=/d/${{HOST}}\n")
    assert tables["runs"]["bs_bytes"].isna().all()
    assert tables["runs"]["target"].tolist() == ["/d/${HOST}"]
    findings = tables["findings"].set_index("code")["message"]
    assert f"bs={value}" in findings["variable_not_resolved"]
    assert "bs=" in findings["option_not_read"]


def test_every_job_is_called_a_description():
    tables = read("[a]\nrw=read\n[b]\nstonewall\n")
    assert tables["findings"]["code"].tolist() == [Code.JOB_DESCRIPTION] * 2
    assert tables["findings"]["run_id"].tolist() == tables["runs"]["run_id"].tolist()
    for name in ("results", "latency", "percentiles", "bins", "samples"):
        assert tables[name].empty


def jobs(folder: Path, text: str) -> dict[str, pd.DataFrame]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.fio").write_text(text)
    return fio_jobfile.read_fio_jobfile(Source.of(folder / "x.fio")).frames()


def test_an_include_stands_for_its_lines(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "one.inc").write_text("bs=8k\ninclude deeper/two.inc\nrw=write\n")
    (tmp_path / "deeper" / "two.inc").write_text("; more\niodepth=7\nrw=randread\n")
    tables = jobs(tmp_path, "[global]\nioengine=libaio\n[a]\nbs=4k\ninclude one.inc\nnumjobs=2\n[b]\n")
    columns = ["bs_bytes", "iodepth", "rw", "numjobs"]
    assert tables["runs"][columns].values.tolist() == [[8192, 7, "write", 2], [4096, 1, "read", 1]]
    assert set(tables["findings"]["code"]) == {Code.JOB_DESCRIPTION, Code.INCLUDED}
    found = Dataset.read(tmp_path).findings
    assert "not_recognised" not in set(found["code"])
    included = found.loc[found["code"] == Code.INCLUDED, "source_path"]
    assert set(included) == {str(tmp_path / "one.inc"), str(tmp_path / "deeper" / "two.inc")}


@pytest.mark.parametrize("how", ["absolute", "up", "link", "missing", "folder", "blank", "long", "loop"])
def test_an_include_does_not_lead_out_of_the_folder(tmp_path, how):
    (tmp_path / "secret").write_text("rw=write\n")
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (home / "link").symlink_to(tmp_path / "secret")
    (home / "loop").symlink_to(home / "loop")
    name = {"absolute": tmp_path / "secret", "up": "../secret", "blank": "  ", "long": "x" * 300}.get(
        how, how
    )
    tables = jobs(home, f"[a]\nbs=8k\ninclude {name}\n")
    assert tables["runs"]["rw"].tolist() == ["read"]
    assert how == "blank" or "include_not_read" in set(tables["findings"]["code"])


def test_an_include_of_bytes_has_no_folder():
    assert "include_not_read" in set(read("[a]\nrw=read\ninclude pyproject.toml\n")["findings"]["code"])


def test_a_file_that_includes_itself_comes_to_an_end(tmp_path):
    (tmp_path / "bomb").write_text("bs=8k\n" + "include bomb\n" * 9)
    tables = jobs(tmp_path, "[a]\nrw=write\ninclude bomb\n")
    assert tables["runs"]["bs_bytes"].tolist() == [8192]
    assert "include_not_read" in set(tables["findings"]["code"])


def test_a_large_include_is_not_read(tmp_path):
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 1 << 30)
    tables = jobs(tmp_path, "[a]\nrw=write\ninclude large\n")
    assert "include_not_read" in set(tables["findings"]["code"])


def test_sections_in_an_include_are_refused(tmp_path):
    (tmp_path / "inc").write_text("bs=8k\n[other]\nrw=write\n")
    tables = jobs(tmp_path, "[a]\nrw=read\ninclude inc\n")
    assert tables["runs"]["job"].tolist() == ["a"]
    assert "include_with_section" in set(tables["findings"]["code"])


def test_more_jobs_than_fio_takes_are_left_out_and_told():
    """A hundred kilobytes of brackets are 25,000 jobs, each of which would cost as much as a real one."""
    tables = read("[[]\n" * (fio_jobfile.MOST_JOBS + 100))
    assert len(tables["runs"]) == fio_jobfile.MOST_JOBS
    (message,) = tables["findings"].loc[tables["findings"]["code"] == "too_many_jobs", "message"]
    assert "4,096" in message
    at_most = read("[[]\n" * fio_jobfile.MOST_JOBS)
    assert "too_many_jobs" not in set(at_most["findings"]["code"])


def test_jobs_with_other_includes_are_other_runs(tmp_path):
    ids = set()
    for size in ("4k", "8k"):
        (tmp_path / size).mkdir()
        (tmp_path / size / "inc").write_text(f"bs={size}\n")
        ids |= set(jobs(tmp_path / size, "[a]\nrw=read\ninclude inc\n")["runs"]["run_id"])
    assert len(ids) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[a]\n",
        "[tool.ruff]\nline-length = 110\nselect = ['E']\n",
        "[mysqld]\nport=3306\nthread=4\nfilename=x\nsize=1g\nruntime=10\n",
        "rw=read\nbs=4k\n[a]\n",
        '[{"rw": "read"}]\nrw=read\n',
        "# A heading\n\nProse about\n[a]\nrw=read\n",
        "[a]\n# rw=read\n",
        '{\n"jobs": [\n{"rw": "x"}\n]}',
    ],
)
def test_other_text_is_not_claimed(text):
    assert not fio_jobfile.sniff(text)


@pytest.mark.parametrize(
    "text", ["[a]\nrw=read\n", "; c\n\n[global]\nsize=1g\n[x y]\nstonewall\n", "[a]\nbs = 4k"]
)
def test_job_files_are_claimed(text):
    assert fio_jobfile.sniff(text)


@given(st.data())
def test_no_damage_makes_it_fall_over(data):
    raw = bytearray((DATA / "sections.fio").read_bytes())
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)))):
        raw[place] = byte
    tables = read(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    for name, table in tables.items():
        schema.check(name, table)


@given(st.dictionaries(st.sampled_from(["bs", "rw", "iodepth", "numjobs", "size", "runtime"]), st.text()))
def test_any_value_is_read_or_told(options):
    text = "[a]\n" + "".join(f"{name}={value}\n" for name, value in options.items())
    for name, table in read(text.encode(errors="replace")).items():
        schema.check(name, table)


@pytest.mark.parametrize(
    "text", ["[global]\nbs=4k\n", "[global x]\nrw=read\n[global]\n", "[global]\niodepth=4"]
)
def test_a_file_that_describes_no_job_says_so(text):
    tables = read(text)
    assert tables["runs"].empty
    assert tables["findings"]["code"].tolist() == ["no_fio_job"]


@pytest.mark.parametrize("last", ["", "[b]\nbs=4k\n"])
def test_the_base_of_units_comes_first_in_its_section(last):
    """Tried with fio 3.33: in a job file, where kb_base stands within its section does not matter."""
    runs = read(f"[global]\nbs=4k\n[a]\nsize=1k\nbs=4k\nkb_base=1000\n[global]\nkb_base=1000\n{last}")["runs"]
    assert runs["bs_bytes"].tolist() == ([4000, 4000] if last else [4000])
    assert runs["working_set_bytes"][0] == 1000
