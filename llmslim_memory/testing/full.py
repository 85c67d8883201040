"""Every contract that a store with all abilities must meet."""

from __future__ import annotations

from llmslim_memory.testing.contract import StoreContract
from llmslim_memory.testing.following import AnalysisContract, ChangesContract
from llmslim_memory.testing.lifetime import CloseContract, SharedChangesContract, SharedContract
from llmslim_memory.testing.machines import FollowMachineContract, MachineContract
from llmslim_memory.testing.recording import RecordsContract
from llmslim_memory.testing.scanning import FindContract, ScanContract
from llmslim_memory.testing.searching import SearchContract


class FullContract(
    StoreContract,
    ScanContract,
    FindContract,
    RecordsContract,
    ChangesContract,
    AnalysisContract,
    CloseContract,
    MachineContract,
    FollowMachineContract,
    SearchContract,
):
    """All that a store of one process can be asked: give it the fixture ``store``."""


class FullSharedContract(FullContract, SharedContract, SharedChangesContract):
    """All that a store of several processes can be asked: give it the fixture ``opener`` too."""
