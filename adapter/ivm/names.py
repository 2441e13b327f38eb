"""Every reserved name in one place: hidden columns, tables behind a model, holes in a plan."""

from __future__ import annotations

PREFIX = "__ivm_"

CONTROL = PREFIX + "ctl"
COUNT = PREFIX + "count"
WEIGHT = PREFIX + "w"
COPY = PREFIX + "copy"
OPERATION = PREFIX + "op"
BRANCH = PREFIX + "branch"
RECOMPUTE = PREFIX + "recompute"
IS_DELTA = PREFIX + "is_delta"
DELETED = PREFIX + "deleted"
INSERTED = PREFIX + "inserted"
HASH = PREFIX + "hash"
WORD = PREFIX + "word"
BITS = PREFIX + "bits"

# Tables of a statement. No column is called so: `input.a` would be a column instead of a field.
TABLES = frozenset({"input", "core", "signed", "changes", *(f"i{i}" for i in range(100))})

# A plan names states, not tables: the database part of a hole says which state is meant.
POST = "@post"
CHANGES = "@changes"
STAGE = "@stage"
STORAGE = "@storage"

# Raised inside the commit, so that a refresh that must not be applied never is.
STALE = "IVM_STALE"
NO_CONTROL_ROW = "IVM_NO_CONTROL_ROW"
SURVIVORS = "IVM_SURVIVORS"
OVERFLOW = "IVM_OVERFLOW"

STORAGE_SUFFIX = "__ivm"


def storage_names(model: str) -> tuple[str, str]:
    """The table behind a model, and the one that a new definition is built in beside it.

    >>> storage_names("orders")
    ('orders__ivm', 'orders__ivm_b')
    """
    return model + STORAGE_SUFFIX, model + STORAGE_SUFFIX + "_b"


def hidden(kind: str, number: int) -> str:
    """
    >>> hidden("sum", 0)
    '__ivm_sum_0'
    """
    return f"{PREFIX}{kind}_{number}"
