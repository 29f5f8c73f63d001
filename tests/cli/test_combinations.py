"""An option that would do nothing is refused, and every verb that has one is looked over."""

from pathlib import Path

import pytest
from programs import azbench
from test_cli_forms import VERBS

from azbenchlib.cli.options.combinations import NEEDS

GOOD = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"
REFUSED = [
    ("read", GOOD, "--table", "latency"),
    ("read", GOOD, "--table", "latency", "--format", "json"),
    ("read", GOOD, "--table", "latency", "--format", "parquet", "-o", "out"),
    ("read", GOOD, "--table", "latency", "--format", "csv", "-o", "out"),
    ("read", GOOD, "--table", "latency", "--format", "csv", "--wide"),
    ("read", GOOD, "--table", "results"),  # also what is the default
    ("read", GOOD, "--percentiles", "50"),
    ("read", GOOD, "--format", "json", "-o", "out"),
    ("read", GOOD, "--wide", "-o", "out"),
    ("collect", GOOD, "-o", "lake", "--dask", "tcp://127.0.0.1:1", "--processes", "2"),
    ("query", "lake", "SELECT 1", "--by", "ddir"),
    ("run", "--show-identity"),
    ("run", "--trust-job-files"),
    ("cost", "--vm", "D8s_v5", "--disk", "P30", "--region", "westeurope", "--bs", "8k"),
    ("cost", "--vm", "D8s_v5", "--region", "westeurope", "--snapshot-sku", "Standard_ZRS"),
    ("cost", "--vm", "D8s_v5", "--region", "westeurope", "--transaction-cap", "9"),
    ("advise", "--iops", "5000", "--size", "1TiB", "--why", "--format", "json"),
    *(("report", GOOD, "--format", "json", *words) for words in (["-o", "x"], ["--title", "x"], ["--open"])),
    *(("report", GOOD, "--format", "json", *words) for words in (["--author", "x"], ["--timings"])),
    *(("report", GOOD, "--format", "json", *words) for words in (["--client", "x"], ["--note", GOOD])),
    ("compare", GOOD, GOOD, "--require", "iops>1", "--format", "junit"),
    ("learn", "--seed", "2"),
    ("learn", "--export", "course", "--no-browser"),
    ("probe", "lab", "--disk", "P10", "--directory", "/mnt"),
]


@pytest.mark.parametrize("words", REFUSED, ids=lambda words: " ".join(map(str, words[:1] + words[2:])))
def test_what_has_no_effect_is_refused_in_one_sentence(words: tuple[object, ...], tmp_path: Path) -> None:
    done = azbench(*words, cwd=tmp_path)
    assert done.returncode == 2 and not done.stdout and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and " has no effect here; it needs " in done.stderr


def test_each_of_the_table_is_tried_and_names_an_option_of_its_verb() -> None:
    tried = {(words[0], word) for words in REFUSED for word in words if str(word).startswith("-")}
    for verb, needs in NEEDS.items():
        options = {parameter.name: parameter for parameter in VERBS[verb].params}
        for name, one in needs.items():
            spelt = {*options[name].opts, *options[name].secondary_opts}
            assert one.option in spelt and any((verb, word) in tried for word in spelt)


def test_what_has_an_effect_is_taken() -> None:
    done = azbench("read", GOOD, "--table", "latency", "--format", "csv")
    assert done.returncode == 0 and done.stdout.startswith("run_id,ddir,lat_kind,")
