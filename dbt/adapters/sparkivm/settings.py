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

# Under these a text means something else than the compiler reads in it, and than it writes.
READING = {
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
}
# Settings of these families are taken to change results, when the profile sets them.
FAMILIES = ("spark.sql.legacy.", "spark.sql.ansi.", "spark.sql.parser.")

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")
UNDEFINED = "<undefined>"


def check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise DbtConfigError(f"`{name}` in server_side_parameters is not the name of a setting")
    return name


def wanted(parameters: Mapping[str, str]) -> dict[str, str]:
    """What a new session has to set, in order: the profile first, then what is not negotiable."""
    for name, value in parameters.items():
        if str(value).lower() != READING.get(name, str(value)).lower():
            raise DbtConfigError(
                f"{name}={value}: sparkivm reads and writes SQL as Spark does by default "
                f"({READING[name]}); remove it from server_side_parameters"
            )
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


def read_settings(
    get: Callable[[str], str | None], parameters: Mapping[str, str]
) -> dict[str, str]:
    """What the session has now, a hook may have set it: all that changes results."""
    more = (name for name in parameters if name.startswith(FAMILIES))
    values = {name: get(name) for name in dict.fromkeys((*RESULT_SETTINGS, *more))}
    return {name: value for name, value in values.items() if value and value != UNDEFINED}
