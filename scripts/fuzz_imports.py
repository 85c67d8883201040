"""Looks for failures of the importers with atheris, guided by what the bytes make them do.

    pip install atheris
    python scripts/fuzz_imports.py --seconds 60
    python scripts/fuzz_imports.py crash-...       # one input that failed, again

Starts from a small export of every format, plain, in lines, gzipped and zipped. The suite tries the same function with
hypothesis.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
with atheris.instrument_imports(include=["llmslim_memory.importers", "llmslim_memory.history"]):
    from tests.importers.fuzzing import CHOICES, NAMES, try_import
    from tests.importers.test_fuzz import SEEDS, packed

LONGEST = 8_192
SLOWEST_SECONDS = 20
MEMORY_MB = 1_500


@atheris.instrument_func  # type: ignore[untyped-decorator]
def one_input(data: bytes) -> None:
    """Import the bytes after the first, which chooses name, format and options."""
    choice = data[0] if data else 0
    name, chosen = NAMES[choice % len(NAMES)], CHOICES[choice // len(NAMES) % len(CHOICES)]
    try_import(data[1:], name=name, format=chosen, tools=bool(choice & 0x80))


def seeds() -> Iterator[bytes]:
    for choice in range(len(NAMES) * len(CHOICES)):
        for seed in SEEDS:
            for form in ("whole", "lines", "gzip", "zip"):
                yield bytes([choice]) + packed(seed, form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("inputs", nargs="*", help="only these files")
    options = parser.parse_args()
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds()):
            Path(corpus, str(number)).write_bytes(seed)
        bounds = [f"-max_len={LONGEST}", f"-timeout={SLOWEST_SECONDS}", f"-rss_limit_mb={MEMORY_MB}"]
        atheris.Setup(
            [sys.argv[0], *bounds, *(options.inputs or [f"-max_total_time={options.seconds}", corpus])], one_input
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
