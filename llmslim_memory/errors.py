"""Everything the library raises on purpose.

::

    LLMSlimError
    ├── InvalidValueError (ValueError)       a value that cannot be used: the message names it and the remedy
    │   ├── DuplicateIdError                 an id that is stored already, with other content
    │   ├── ScorerError                      a relevance scorer that raised or gave no usable scores
    │   └── HistoryImportError               a history file that cannot be imported
    ├── InvalidTypeError (TypeError)         a value of the wrong type
    ├── MissingExtraError (ImportError)      an optional dependency that is not installed
    ├── UnsupportedError (TypeError)         the store lacks the ability that a call needs
    └── StoreError                           the database refused or failed
        ├── StoreUnavailableError            it cannot be reached, or did not answer in time; try again
        ├── StoreClosedError                 the store was closed
        ├── StoreFullError                   there is no room left to write
        └── SchemaError                      what is stored is of a newer schema, or is another program's

Messages never hold stored content, hosts, URLs or passwords; a driver's own error is attached as ``__cause__``.
"""


class LLMSlimError(Exception):
    """Root of every error this library raises on purpose."""


class InvalidValueError(LLMSlimError, ValueError):
    """A value that cannot be used; the message names it and says what to pass instead."""


class InvalidTypeError(LLMSlimError, TypeError):
    """A value of the wrong type; the message names the type given and the types taken."""


class DuplicateIdError(InvalidValueError):
    """An id is stored already with other content. Pass ``on_conflict="keep"`` or ``"update"`` to decide which wins."""


class ScorerError(InvalidValueError):
    """A relevance scorer raised, or gave NaN or the wrong number of scores."""


class HistoryImportError(InvalidValueError):
    """A history file cannot be imported: unreadable, unknown format, over a limit, unsafe archive, or malformed."""


class MissingExtraError(LLMSlimError, ImportError):
    """An optional dependency is missing; the message is the command that installs it."""


class UnsupportedError(LLMSlimError, TypeError):
    """The store lacks the ability a call needs; the message names the Protocol to implement."""


class StoreError(LLMSlimError):
    """The database refused or failed. The driver's error is attached as ``__cause__`` for the operator's log."""


class StoreUnavailableError(StoreError):
    """The database cannot be reached or did not answer in time. Nothing of the call was stored unless it was
    acknowledged; trying again with the same ids is safe."""


class StoreClosedError(StoreError):
    """The store was used after ``close()``."""


class StoreFullError(StoreError):
    """The database has no room left. What was acknowledged before is kept."""


class SchemaError(StoreError):
    """The stored schema is newer than this release, or the file, table or collection is another program's."""
