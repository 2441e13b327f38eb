"""Session settings: what is forced, what is applied from the profile, what is read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dbt_common.exceptions import DbtConfigError

# Settings under which one SQL text gives different rows. A view maintained under one of them
# must not be refreshed under another.
RESULT_SETTINGS = (
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.legacy.charVarcharAsString",
    "spark.sql.legacy.sizeOfNull",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.timeZone",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.timestampType",
)

# A file that vanished under a Delta table must be an error, never fewer rows.
FORCED = {"spark.sql.files.ignoreMissingFiles": "false"}

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")
UNDEFINED = "<undefined>"


def check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise DbtConfigError(f"`{name}` in server_side_parameters is not the name of a setting")
    return name


def wanted(parameters: Mapping[str, str]) -> dict[str, str]:
    """What a new session has to set, in order: the profile first, then what is not negotiable."""
    return {check_name(name): value for name, value in parameters.items()} | FORCED


def set_statement(name: str, value: str) -> str:
    """
    >>> set_statement("spark.sql.session.timeZone", "Europe/Berlin")
    'set `spark.sql.session.timeZone`=`Europe/Berlin`'
    """
    quoted = value.replace("`", "``")
    return f"set `{check_name(name)}`=`{quoted}`"


def get_statement(name: str) -> str:
    return f"set `{check_name(name)}`"


def read_settings(get: Callable[[str], str | None]) -> dict[str, str]:
    values = {name: get(name) for name in RESULT_SETTINGS}
    return {name: value for name, value in values.items() if value and value != UNDEFINED}
