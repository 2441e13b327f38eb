"""From an exception of Spark, py4j, PyHive or gRPC to the few lines a user can act on."""

from __future__ import annotations

import re

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

logger = AdapterLogger("Sparkivm")

MAX_LINES = 8
MAX_CHARACTERS = 2000
ERROR_CLASS = re.compile(r"\[[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*\] (?!(?:org|java|scala|io)\.)")
# Spark's names for "a task failed": the reason stands further down.
WRAPPERS = ("[TASK_WRITE_FAILED]", "[FAILED_EXECUTE_UDF]")
STACK = re.compile(r"\n\s+at [\w.$/]+\(|\nJVM stacktrace:|\nDriver stacktrace:|\nCaused by: ")
PLAN_LINE = re.compile(r"\s*(?:[:+|][- ]|'?[A-Z]\w+ (?:\[|\()|'[A-Z]|\+\-)")
DERBY_LOCK = re.compile(r"Another instance of Derby may have already booted")


def full_text(exception: BaseException) -> str:
    """All that is known of an error, Java stack included."""
    response = exception.args[0] if exception.args else None
    status = getattr(response, "status", None)
    parts = [
        str(getattr(status, "errorMessage", None) or exception),
        str(getattr(exception, "_stackTrace", None) or ""),
    ]
    return "\n".join(part for part in parts if part)


def shorten(text: str) -> str:
    """The lines that say what is wrong, from the error class on and without stack or plan.

    >>> shorten("Error running query: [X] org.apache.spark.SomeException: [DIVIDE_BY_ZERO] "
    ...         "Division by zero.\\n\\tat org.apache.Foo.bar(Foo.scala:1)")
    '[DIVIDE_BY_ZERO] Division by zero.'
    """
    start = 0
    for found in ERROR_CLASS.finditer(text):
        start = found.start()
        if not found.group().startswith(WRAPPERS):
            break
    text = text[start:]
    cut = STACK.search(text)
    if cut:
        text = text[: cut.start()]
    lines = [line for line in text.strip().splitlines() if not PLAN_LINE.match(line)]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines[:MAX_LINES])[:MAX_CHARACTERS]


def database_error(exception: BaseException) -> DbtRuntimeError:
    """The dbt error to raise for `exception`; the whole story goes to the log file."""
    if isinstance(exception, DbtRuntimeError):
        return exception
    text = full_text(exception)
    logger.debug(text)
    if DERBY_LOCK.search(text):
        return DbtDatabaseError(
            "the local catalog is in use by another process: wait until that dbt run is over, or "
            "give this profile its own spark.hadoop.javax.jdo.option.ConnectionURL"
        )
    return DbtDatabaseError(shorten(text) or type(exception).__name__)
