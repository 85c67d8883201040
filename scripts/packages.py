"""Builds the three distributions, looks at what is in them, and installs them where nothing else is.

    python3 scripts/dev.py packages              everything below
    python3 scripts/dev.py packages --tag v1.2.3 the same, and the tag must name the version

Wheels and sdists go to dist/, lists of what they bring along (CycloneDX) to sbom/. Each extra is installed from the
wheels into an empty environment of its own, and what it is for is imported there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SBOM = ROOT / "sbom"
ENVIRONMENTS = ROOT / ".matrix"

# distribution: its folder, the package's folder in the wheel, and files that are no code and must be there
DISTRIBUTIONS = {
    "llmslim_memory": (
        ".",
        "llmslim_memory/",
        [
            "py.typed",
            "cli/demo.jsonl",
            "ranking/vocabulary/bert-base-uncased.txt",
            "ranking/vocabulary/related-en.txt",
            "ranking/vocabulary/related-zh.txt",
            "ranking/vocabulary/simplified.txt",
            "server/page/app.js",
            "server/page/icon.svg",
            "server/page/index.html",
            "server/page/style.css",
        ],
    ),
    "langchain_llmslim": ("integrations/langchain", "langchain_llmslim/", ["py.typed"]),
    "llama_index_memory_llmslim": ("integrations/llama-index", "llama_index/memory/llmslim/", ["py.typed"]),
}

# extra of llmslim-memory: what only it makes importable
EXTRAS = {
    "": "from llmslim_memory import Memory; Memory().add({'role': 'user', 'content': 'hello'}, user_id='ann')",
    "postgres": "from llmslim_memory import PostgresStore",
    "mongodb": "from llmslim_memory import MongoStore",
    "server": "import llmslim_memory.server.app",
    "mcp": "import llmslim_memory.server.mcp",
    "semantic": "from llmslim_memory import Memory; memory = Memory(); said = {'role': 'user', 'content': 'my car'}; "
    "memory.add(said, user_id='ann'); assert memory.rank('vehicle', user_id='ann', relevance='semantic')",
    "all": "from llmslim_memory import MongoStore, PostgresStore; import llmslim_memory.server.app",
    "langchain": "import langchain_llmslim; langchain_llmslim.LLMSlimMemoryMiddleware",
    "llama-index": "from llama_index.memory.llmslim import LLMSlimMemory",
}
ADAPTERS = {"langchain": "langchain_llmslim", "llama-index": "llama_index_memory_llmslim"}
# What langchain-core imports does this on Python 3.14.
ALLOWED = "ignore:'asyncio.iscoroutinefunction' is deprecated:DeprecationWarning"
NEVER_SHIPPED = re.compile(r"(^|/)(tests?|\.venv|__pycache__|\.git|benchmarks|examples|scripts)(/|$)|\.pyc$|\.db$")


def main(arguments: list[str]) -> None:
    for folder in (DIST, SBOM):
        shutil.rmtree(folder, ignore_errors=True)
    for source, _, _ in DISTRIBUTIONS.values():
        run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", DIST, ROOT / source)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))
    versions = {look_into(name) for name in DISTRIBUTIONS}
    if len(versions) != 1:
        sys.exit(f"the distributions disagree about the version: {sorted(versions)}")
    if arguments[:1] == ["--tag"] and arguments[1] != f"v{min(versions)}":
        sys.exit(f"the tag {arguments[1]} is not of version {min(versions)}")
    SBOM.mkdir()
    for extra in EXTRAS:
        try_extra(extra)
    print(f"All in order: {', '.join(path.name for path in sorted(DIST.iterdir()))}")


def look_into(name: str) -> str:
    """Check what wheel and sdist of ``name`` hold; return their version."""
    _, package, files = DISTRIBUTIONS[name]
    with zipfile.ZipFile(wheel(name)) as archive:
        inside = archive.namelist()
        [metadata] = [path for path in inside if path.endswith(".dist-info/METADATA")]
        described = Parser().parsestr(archive.read(metadata).decode())
    information = metadata.split("/", maxsplit=1)[0] + "/"
    strangers = [path for path in inside if not path.startswith((package, information)) or NEVER_SHIPPED.search(path)]
    missing = [path for path in files if package + path not in inside]
    with tarfile.open(next(DIST.glob(f"{name}-*.tar.gz"))) as archive:
        shipped = archive.getnames()
    strangers += [path for path in shipped if NEVER_SHIPPED.search(path)]
    missing += [end for end in ("/LICENSE", "/README.md", "/PKG-INFO") if not any(p.endswith(end) for p in shipped)]
    if strangers or missing:
        sys.exit(f"{name}: does not belong in it: {strangers}; is missing: {missing}")
    return described_well(name, described)


def described_well(name: str, metadata: Message) -> str:
    """The version of ``metadata``, which names everything that an index shows and no link that leads nowhere there."""
    lacking = [field for field in ("Summary", "License-Expression", "License-File", "Keywords") if not metadata[field]]
    classifiers = metadata.get_all("Classifier", [])
    if lacking or "Typing :: Typed" not in classifiers or metadata["Requires-Python"] != ">=3.11":
        sys.exit(f"{name}: metadata lack {lacking or 'a classifier or Requires-Python'}")
    links = re.findall(r"\]\((?!https://)([^)]*)\)", str(metadata.get_payload()))
    if links:
        sys.exit(f"{name}: its description links to files that an index does not have: {links}")
    return str(metadata["Version"])


def try_extra(extra: str) -> None:
    """Install the wheel with ``extra`` into an empty environment, import what it is for, and list what came along."""
    environment = ENVIRONMENTS / f"wheel-{extra or 'base'}"
    run(sys.executable, "-m", "uv", "venv", "-q", "--clear", "-p", sys.executable, environment)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = [f"{wheel('llmslim_memory')}[{extra}]" if extra else wheel("llmslim_memory")]
    if extra in ADAPTERS:
        wanted.append(wheel(ADAPTERS[extra]))
    run(sys.executable, "-m", "uv", "pip", "install", "-q", "-p", python, *wanted)
    run(python, "-I", "-W", "error", "-W", ALLOWED, "-c", EXTRAS[extra], cwd=environment)
    run(python.with_name("llmslim-memory"), "--version", cwd=environment)
    listing = SBOM / f"llmslim-memory{'-' * bool(extra)}{extra}.cdx.json"
    run(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", listing, python)
    size = sum(
        path.stat().st_size for path in environment.rglob("*") if path.suffix != ".pyc" and not path.is_symlink()
    )
    print(f"{extra or 'base'}: {size / 1e6:.0f} MB", flush=True)
    shutil.rmtree(environment)


def wheel(name: str) -> Path:
    return next(DIST.glob(f"{name}-*.whl"))


def run(*command: object, cwd: Path = ROOT) -> None:
    words = [str(word) for word in command]
    print("+", *(word.replace(f"{ROOT}/", "") for word in words), flush=True)
    done = subprocess.run(words, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} from: {' '.join(words)}")


if __name__ == "__main__":
    main(sys.argv[1:])
