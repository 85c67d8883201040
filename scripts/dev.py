"""Sets up .venv with nothing but Python 3.11 or newer, and runs one of the project's jobs in it.

    python3 scripts/dev.py demo            the library at work on an example history
    python3 scripts/dev.py test [ARG...]   the whole test suite, or pytest with these arguments
    python3 scripts/dev.py coverage        the core's tests, branch coverage measured and at least 95 %
    python3 scripts/dev.py check           format, lint, types and import contracts
    python3 scripts/dev.py matrix [NAME]   the adapters' tests on the oldest and newest frameworks supported (NAME is
                                           an adapter, or one of its environments: langchain, langchain-floor)
    python3 scripts/dev.py packages        wheels and sdists, looked into, and installed by themselves
    python3 scripts/dev.py docs            the documentation site, into docs/_build/html; a warning is an error
    python3 scripts/dev.py setup           only the environment for tests

A second run is fast: an environment is set up again only when a pyproject.toml has changed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
ADAPTERS = {"langchain": ROOT / "integrations" / "langchain", "llama-index": ROOT / "integrations" / "llama-index"}
TEST_PATHS = [
    "tests",
    "integrations/langchain/tests",
    "integrations/llama-index/tests",
    "integrations/llama-index/README.md",
    "README.md",
    "docs",
]
CORE_ONLY = ["-e", "."]
DOCUMENTED = ["-e", ".[docs]", "-e", "integrations/langchain[agents]", "-e", "integrations/llama-index"]
PACKAGING = ["build>=1.2", "cyclonedx-bom>=7.0", "twine>=6.1", "uv>=0.5"]
EVERYTHING = ["-e", ".[dev]", "-e", "integrations/langchain[dev]", "-e", "integrations/llama-index[dev]"]
# Database servers are to be there, and nothing is to wait for a network.
TEST_SETTINGS = {"REQUIRE_SERVICES": "1", "LLMSLIM_OFFLINE": "1"}
WHOLE = {**TEST_SETTINGS, "REQUIRE_ALL": "1"}  # the newest frameworks have all that older ones make tests skip
COVERAGE_PERCENT = 95
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main(arguments):
    jobs = {job.__name__: job for job in (demo, test, coverage, check, matrix, packages, docs, setup)}
    if not arguments or arguments[0] not in jobs:
        sys.exit(__doc__)
    if sys.version_info < (3, 11):  # noqa: UP036 - python3 may be an older one
        restart_with_newer_python()
    os.chdir(ROOT)
    sys.exit(jobs[arguments[0]](arguments[1:]))


def restart_with_newer_python():
    for minor in (11, 12, 13, 14):
        found = shutil.which(f"python3.{minor}")
        if found:
            os.execv(found, [found, *sys.argv])
    sys.exit("Python 3.11 or newer is needed, and there is no python3.11 to python3.14 on the PATH")


def demo(arguments):
    python = install(ENVIRONMENT, "core", CORE_ONLY)
    settings = {"LLMSLIM_OFFLINE": os.environ.get("LLMSLIM_OFFLINE", "1")}
    return run([python, "-m", "llmslim_memory", "demo", *arguments], settings)


def setup(_arguments):
    install(ENVIRONMENT, "dev", EVERYTHING)
    return 0


def test(arguments):
    python = install(ENVIRONMENT, "dev", EVERYTHING)
    bring_browser(python)
    pytest = [python, "-m", "pytest"]
    return run([*pytest, *(arguments or ["-q", "-n", "2", "--dist", "loadfile", *TEST_PATHS])], WHOLE)


def coverage(_arguments):
    python = install(ENVIRONMENT, "dev", EVERYTHING)
    bring_browser(python)
    measure = ["--cov", "--cov-report=term-missing:skip-covered", f"--cov-fail-under={COVERAGE_PERCENT}"]
    return run([python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *measure, "tests"], WHOLE)


def check(_arguments):
    python = install(ENVIRONMENT, "dev", EVERYTHING)
    lint_imports = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    commands = [
        ["-m", "ruff", "format", "--check", "."],
        ["-m", "ruff", "check", "."],
        ["-m", "mypy"],
        ["-m", "mypy", "-p", "langchain_llmslim"],
        ["-m", "mypy", "-p", "llama_index.memory.llmslim"],
        ["-c", lint_imports],
    ]
    codes = [run([python, *command]) for command in commands]
    return int(any(codes))


def matrix(arguments):
    import tomllib

    releases = {}
    for name, folder in ADAPTERS.items():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        labelled = project["tool"]["llmslim"]["matrix"].items()
        releases |= {f"{name}-{label}": (name, pins) for label, pins in labelled}
    wanted = {label for label, (name, _) in releases.items() if not arguments or {name, label} & set(arguments)}
    if unknown := sorted(set(arguments) - wanted - set(ADAPTERS)):
        sys.exit(f"{', '.join(unknown)} is none of {', '.join([*ADAPTERS, *releases])}")
    codes = [test_with(label, *releases[label]) for label in releases if label in wanted]
    return int(any(codes))  # a run that a signal ended has a code below 0


def test_with(label, adapter, pins):
    """Run an adapter's tests with these releases, in an environment of their own."""
    packages = ["-e", ".[dev]", "-e", f"integrations/{adapter}[dev]", *pins]
    python = install(ROOT / ".matrix" / label, "all", packages)
    print(f"{label}: {', '.join(pins) or 'newest releases'}", flush=True)
    return run([python, "-m", "pytest", "-q", f"integrations/{adapter}/tests"], TEST_SETTINGS)


def packages(arguments):
    python = install(ROOT / ".matrix" / "packages", "tools", PACKAGING)
    return run([python, "scripts/packages.py", *arguments], uv_settings(python))


def docs(_arguments):
    python = install(ENVIRONMENT, "docs", DOCUMENTED)
    build = [python, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--fresh-env", "-q"]
    code = max(run([*build, "-b", builder, "docs", f"docs/_build/{builder}"]) for builder in ("html", "linkcheck"))
    print("open docs/_build/html/index.html" if code == 0 else "the site has faults; see above")
    return code


def install(environment, level, wanted):
    """Install ``wanted`` into ``environment``, unless that was done already; return its Python."""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = environment / f".llmslim-{level}"
    digest = fingerprint(wanted)
    if stamp.exists() and stamp.read_text(encoding="ascii") == digest and python.exists():
        return str(python)
    print(f"Setting up {environment.relative_to(ROOT)} (once; this takes a minute or two) ...", flush=True)
    if not python.exists():
        venv.create(environment, with_pip=True, clear=environment.exists())
    with_uv = [str(python), "-m", "uv", "pip", "install", "-q", "--compile-bytecode", "-p", str(python)]
    with_pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if not (has_uv(python) and run([*with_uv, *wanted], uv_settings(python)) == 0) and run([*with_pip, *wanted]):
        sys.exit("The packages could not be installed; see the message above")
    stamp.write_text(digest, encoding="ascii")
    return str(python)


def fingerprint(wanted):
    """Changes with what is installed, where it stands, and the Python that runs it."""
    files = [ROOT / "pyproject.toml", *(folder / "pyproject.toml" for folder in ADAPTERS.values())]
    parts = [sys.version, str(ROOT), *wanted, *(path.read_text(encoding="utf-8") for path in files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def has_uv(python):
    """Whether uv, which installs several times faster than pip, is in the environment or can be put there."""
    if quiet([str(python), "-m", "uv", "--version"]).returncode == 0:
        return True
    if quiet([str(python), "-m", "pip", "--version"]).returncode != 0:
        quiet([str(python), "-m", "ensurepip"])
    return quiet([str(python), "-m", "pip", "install", "-q", "uv"]).returncode == 0


def bring_browser(python):
    """A browser for the inspector's tests: one that is there, Debian's where that can be installed, or Playwright's."""
    if os.environ.get("LLMSLIM_TEST_BROWSER") or any(map(shutil.which, BROWSERS)):
        return
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print("Installing Debian's Chromium (once) ...", flush=True)
        run(["apt-get", "-qq", "update"])
        run(
            ["apt-get", "-qq", "install", "-y", "--no-install-recommends", "chromium"],
            {"DEBIAN_FRONTEND": "noninteractive"},
        )
    else:
        run([python, "-m", "playwright", "install", "chromium"])


def uv_settings(python):
    """uv does not read pip's configuration: hand over the index and the certificates that pip uses."""
    index = quiet([str(python), "-m", "pip", "config", "get", "global.index-url"]).stdout.strip()
    index = os.environ.get("PIP_INDEX_URL") or index
    certificates = os.environ.get("PIP_CERT")
    settings = {"UV_DEFAULT_INDEX": index, "SSL_CERT_FILE": certificates, "UV_SYSTEM_CERTS": "1"}
    return {name: value for name, value in settings.items() if value and name not in os.environ}


def quiet(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def run(command, settings=None):
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(settings or {})}) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Ctrl-C reaches the command too, which then stops its database servers and says how far it came.
            process.wait()
            sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])
