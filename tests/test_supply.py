"""What runs in workflows and images is what was looked at: commits and hashes, no names that can be moved."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMIT = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_workflows_name_each_action_by_its_commit_with_the_tag_beside_it() -> None:
    used = [
        line.partition("uses:")[2].strip()
        for file in sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
        for line in file.read_text().splitlines()
        if "uses:" in line
    ]
    assert used and not [text for text in used if not COMMIT.fullmatch(text)]


def test_the_image_and_the_set_up_install_by_hashes_alone() -> None:
    for name in ("Containerfile", "scripts/bootstrap"):
        lines = (ROOT / name).read_text().replace("\\\n", " ").replace("&&", "\n").splitlines()
        installs = [line for line in lines if re.search(r"\bpip (install|sync)\b", line)]
        own = [line for line in installs if "--no-deps" in line]  # this very folder, and what builds it
        others = [line for line in installs if line not in own]
        assert len(own) == 1 and re.search(r"--build-constraints \S+\.lock|--offline", own[0])
        assert others and all("--require-hashes" in line for line in others)


def test_uv_is_one_version_with_its_hashes() -> None:
    rows = [
        line for line in (ROOT / "scripts" / "uv.txt").read_text().splitlines() if not line.startswith("#")
    ]
    assert re.fullmatch(r"uv==\d+\.\d+\.\d+ \\", rows[0]) and len(rows) > 1
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", row) for row in rows[1:])
