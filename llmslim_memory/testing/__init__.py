"""A contract that every store must meet, and hypothesis strategies, for authors of stores.

Needs pytest and hypothesis (``pip install pytest hypothesis``).
"""

import pytest

pytest.register_assert_rewrite(
    f"{__name__}.abilities", f"{__name__}.contract", f"{__name__}.lifetime", f"{__name__}.machines"
)

from llmslim_memory.testing.contract import StoreContract  # noqa: E402

__all__ = ["StoreContract"]
