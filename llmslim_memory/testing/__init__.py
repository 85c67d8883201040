"""A contract that every store must meet, and hypothesis strategies, for authors of stores.

Needs pytest and hypothesis (``pip install pytest hypothesis``).
"""

import pytest

pytest.register_assert_rewrite(
    f"{__name__}.contract",
    f"{__name__}.following",
    f"{__name__}.keeping",
    f"{__name__}.lifetime",
    f"{__name__}.machines",
    f"{__name__}.recording",
    f"{__name__}.scanning",
    f"{__name__}.searching",
)

from llmslim_memory.testing.contract import StoreContract  # noqa: E402
from llmslim_memory.testing.following import AnalysisContract, ChangesContract  # noqa: E402
from llmslim_memory.testing.full import FullContract, FullSharedContract  # noqa: E402
from llmslim_memory.testing.lifetime import CloseContract, SharedChangesContract, SharedContract  # noqa: E402
from llmslim_memory.testing.machines import FollowMachineContract, MachineContract  # noqa: E402
from llmslim_memory.testing.recording import RecordsContract  # noqa: E402
from llmslim_memory.testing.scanning import FindContract, ScanContract  # noqa: E402
from llmslim_memory.testing.searching import SearchContract  # noqa: E402

__all__ = [
    "AnalysisContract",
    "ChangesContract",
    "CloseContract",
    "FindContract",
    "FollowMachineContract",
    "FullContract",
    "FullSharedContract",
    "MachineContract",
    "RecordsContract",
    "ScanContract",
    "SearchContract",
    "SharedChangesContract",
    "SharedContract",
    "StoreContract",
]
