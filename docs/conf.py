"""The documentation site: `python3 scripts/dev.py docs` builds it into docs/_build/html."""

from llmslim_memory import __version__

project = "llmslim-memory"
author = "llmslim-memory contributors"
copyright = f"2026, {author}"  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
highlight_language = "none"
nitpicky = False

html_theme = "furo"
html_title = f"llmslim-memory {version}"
html_theme_options = {"navigation_with_keys": True}

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
default_role = "code"  # docstrings put names into single back-ticks, too

# The site is built without a network: links within it are checked, those to elsewhere are not.
linkcheck_ignore = [r"https?://.*"]
