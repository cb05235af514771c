#!/usr/bin/env python3
"""Checks docs/contracts.md: each section of the contracts has a row, and all that a row names exists and passes.

usage: contracts.py [--names-only]

`testing/contracts.list` has the sections. A row names files, and tests of Rust, npm and pytest; the page says how. The
named tests run, the Rust tests on temporary servers, and each must have passed. With --names-only no test runs. The last
line of the output counts the sections, the distinct files and tests that keep them, and the departures.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/contracts.md"
SECTIONS = ROOT / "testing/contracts.list"
FEATURES = "nightdesk/scripted,nightdesk/failpoints"

ROW = re.compile(r"^\| (?P<id>D\d+|[a-z]+-\S+) \| (?P<cells>.*) \|$")
DEPARTURE = re.compile(r"^D\d+$")
PASSED = re.compile(r"^\s+PASS \[.*\] (?:\(.*\) )?(?P<binary>\S+) (?P<test>\S+)$")
FAILED = re.compile(r"^\s+(?:FAIL|TIMEOUT|SIGABRT|LEAK-FAIL) \[.*\] (?:\(.*\) )?(?P<binary>\S+) (?P<test>\S+)$")
TAP = re.compile(r"^\s*(?P<result>ok|not ok) \d+ - (?P<title>.*?)(?: # .*)?$")


@dataclass
class Page:
    """The rows of the page."""

    sections: dict[str, list[str]] = field(default_factory=dict)
    cited: dict[str, list[str]] = field(default_factory=dict)
    departures: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read_page(text: str) -> Page:
    """Reads the tables of the page."""
    page = Page()
    for line in text.splitlines():
        if (row := ROW.match(line)) is None:
            continue
        name, cells = row["id"], [cell.strip() for cell in row["cells"].split(" |")]
        if DEPARTURE.match(name):
            page.departures.append(name)
            if len(cells) != 2 or not all(cells):
                page.faults.append(f"{name}: a departure has its text and its reason")
            continue
        if name in page.sections:
            page.faults.append(f"{name}: has two rows")
        page.sections[name] = re.findall(r"`([^`]+)`", cells[1])
        page.cited[name] = [one.strip() for one in "".join(cells[2:]).split(",") if one.strip()]
    return page


def read_sections(text: str) -> list[str]:
    """Returns the ids of the sections."""
    lines = (line.strip() for line in text.splitlines())
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def check_rows(page: Page, sections: list[str]) -> list[str]:
    """Returns what is wrong with the rows as such."""
    faults = list(page.faults)
    faults += [f"{name}: has no row" for name in sections if name not in page.sections]
    faults += [f"{name}: is no section" for name in page.sections if name not in sections]
    cited = {one for departures in page.cited.values() for one in departures}
    faults += [f"{one}: is cited and not explained" for one in sorted(cited - set(page.departures))]
    faults += [f"{one}: is explained and not cited" for one in sorted(set(page.departures) - cited)]
    for name, keepers in page.sections.items():
        if not keepers and not page.cited[name]:
            faults.append(f"{name}: is neither kept nor departed from")
    return faults


def crates() -> dict[str, Path]:
    """Returns the folder of each crate, by its last name."""
    found = {}
    for manifest in [*ROOT.glob("crates/*/Cargo.toml"), *ROOT.glob("platforms/*/Cargo.toml"), *ROOT.glob("testing/**/Cargo.toml")]:
        found.setdefault(manifest.parent.name, manifest.parent)
    return found


def find_function(test: str, folders: dict[str, Path]) -> str | None:
    """Returns the package of a Rust test, or None if there is no such function."""
    crate, *modules, function = test.split("::")
    folder = folders.get(crate)
    if folder is None:
        return None
    package = re.search(r'^name = "(.*)"$', (folder / "Cargo.toml").read_text(), re.MULTILINE)
    # A module of tests may lie in the file of the module around it, and a suite may be included by its crate.
    for length in range(len(modules), -1, -1):
        inner = "/".join(modules[:length])
        for file in (folder / "src" / f"{inner}.rs", folder / f"{inner}.rs", folder / "src" / inner / "mod.rs"):
            if file.is_file() and re.search(rf"\bfn {re.escape(function)}\b", file.read_text()):
                return package[1] if package else None
    return None


@dataclass
class Keepers:
    """The distinct names on the page, by kind."""

    files: set[str] = field(default_factory=set)
    rust: set[str] = field(default_factory=set)
    npm: set[str] = field(default_factory=set)
    pytest: set[str] = field(default_factory=set)

    def count(self) -> int:
        return sum(len(names) for names in (self.files, self.rust, self.npm, self.pytest))


def sort_keepers(page: Page) -> Keepers:
    """Tells the names of the page apart."""
    keepers = Keepers()
    for name in {name for names in page.sections.values() for name in names}:
        if ".py::" in name:
            keepers.pytest.add(name)
        elif ": " in name:
            keepers.npm.add(name)
        elif "::" in name:
            keepers.rust.add(name)
        else:
            keepers.files.add(name)
    return keepers


def run(command: list[str], folder: Path = ROOT) -> str:
    """Runs a command, shows its output and returns it."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, end="")
    return done.stdout


def check_rust(tests: set[str], packages: dict[str, str]) -> list[str]:
    """Runs the Rust tests. A check of a suite has to pass for memory and for PostgreSQL."""
    chosen = []
    for test in sorted(tests):
        function = re.escape(test.rsplit("::", 1)[1])
        own = f" & package(={packages[test]})" if not is_suite(test) else ""
        chosen.append(f"(test(/(^|::){function}$/){own})")
    command = ["cargo", "xtask", "with-servers", "--redis", "--", "cargo", "nextest", "run", "--locked", "--workspace"]
    command += ["--features", FEATURES, "--no-fail-fast", "--status-level", "pass", "-E", " | ".join(chosen)]
    said = run(command).splitlines()
    passed = [match for line in said if (match := PASSED.match(line))]
    failed = [match for line in said if (match := FAILED.match(line))]
    faults = []
    for test in sorted(tests):
        where = {one["binary"].split("::")[0] for one in passed if is_named(test, one["test"])}
        want = {"nightdesk-conformance", "nightdesk-store-pg"} if is_suite(test) else {packages[test]}
        missing = want - where
        if missing:
            faults.append(f"{test}: did not pass in {', '.join(sorted(missing))}")
        faults += [f"{test}: failed in {one['binary']}" for one in failed if is_named(test, one["test"])]
    return faults


def is_suite(test: str) -> bool:
    """True for a check of a suite, which the stores' crates make a test of their own."""
    crate, *modules, _ = test.split("::")
    return crate == "conformance" and modules[0] != "connector"


def is_named(test: str, ran: str) -> bool:
    return ran.rsplit("::", 1)[-1] == test.rsplit("::", 1)[1]


def check_npm(tests: set[str]) -> list[str]:
    """Runs the tests of the npm packages."""
    faults = []
    for folder in sorted({name.split(": ", 1)[0] for name in tests}):
        for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npx", "tsc"]):
            run(command, ROOT / folder)
        script = "node --test --test-reporter=tap dist/test/*.test.js"
        said = run(["bash", "-c", script], ROOT / folder).splitlines()
        ran = {match["title"]: match["result"] for line in said if (match := TAP.match(line))}
        for name in sorted(name for name in tests if name.startswith(f"{folder}: ")):
            if ran.get(name.split(": ", 1)[1]) != "ok":
                faults.append(f"{name}: did not pass, or does not exist")
    return faults


def check_pytest(tests: set[str]) -> list[str]:
    """Runs the tests of the Python SDK, in the environment that its own script makes."""
    if not tests:
        return []
    folder = ROOT / "clients/python"
    tools = Path(os.environ.get("NIGHTDESK_TOOLS", Path.home() / ".cache/nightdesk/tools"))
    pytest = tools / "python-client/bin/pytest"
    if not pytest.exists():
        run(["bash", "test.sh"], folder)
    names = [name.removeprefix("clients/python/") for name in sorted(tests)]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        run([str(pytest), "-p", "no:cacheprovider", "--junitxml", str(report), *names], folder)
        cases = ElementTree.parse(report).iter("testcase") if report.exists() else []
        results: dict[str, bool] = {}
        for case in cases:
            function = case.get("name", "").split("[")[0]
            results[function] = results.get(function, True) and len(case) == 0
    return [f"{name}: did not pass, or does not exist" for name in sorted(tests) if not results.get(name.split("::")[-1])]


def main(arguments: list[str]) -> int:
    page, sections = read_page(PAGE.read_text()), read_sections(SECTIONS.read_text())
    keepers, folders = sort_keepers(page), crates()
    faults = check_rows(page, sections)
    faults += [f"{name}: there is no such file" for name in sorted(keepers.files) if not (ROOT / name).is_file()]
    packages = {test: package for test in keepers.rust if (package := find_function(test, folders))}
    faults += [f"{test}: there is no such test" for test in sorted(keepers.rust - set(packages))]
    if "--names-only" not in arguments:
        faults += check_rust(set(packages), packages) + check_npm(keepers.npm) + check_pytest(keepers.pytest)
    for fault in faults:
        print(fault)
    print(f"contracts: sections={len(sections)} kept={keepers.count()} deviations={len(page.departures)}")
    return 1 if faults else 0


if __name__ == "__main__":
    os.environ["CARGO_TERM_COLOR"] = "never"
    sys.exit(main(sys.argv[1:]))
