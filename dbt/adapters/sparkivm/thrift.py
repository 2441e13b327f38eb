"""A PyHive connection (methods thrift and http) with settings, quick polling, clear errors."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import PyhiveConnectionWrapper
from dbt.adapters.sparkivm.messages import database_error, full_text
from dbt.adapters.sparkivm.settings import get_statement, read_settings, set_statement, wanted
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

logger = AdapterLogger("Sparkivm")

FIRST_POLL = 0.01
# Spark's Thrift server runs statements in threads that do not see the jars of --packages.
NO_DELTA = re.compile(r"data source: delta|NoClassDefFoundError: \S*delta")
DELTA_HINT = (
    "start the Thrift server with the Delta jars in spark.driver.extraClassPath or in Spark's "
    "folder jars/: --packages alone is not enough there"
)
PENDING = ("INITIALIZED_STATE", "RUNNING_STATE", "PENDING_STATE")


class ThriftHandle(PyhiveConnectionWrapper):
    def __init__(self, stock: PyhiveConnectionWrapper, parameters: Mapping[str, str]) -> None:
        super().__init__(
            stock.handle, stock.poll_interval, stock.query_timeout, stock.query_retries
        )
        for name, value in wanted(parameters).items():
            self._apply(name, value)
        self.settings = self.read_settings(parameters)

    def _apply(self, name: str, value: str) -> None:
        try:
            self._run(set_statement(name, value))
        except DbtDatabaseError as error:
            if "CANNOT_MODIFY" not in str(error):
                raise
            logger.warning(
                f"{name} cannot be set on a running server: give it to the server instead"
            )

    def read_settings(self, parameters: Mapping[str, str]) -> dict[str, str]:
        return read_settings(self._read, parameters)

    def _read(self, name: str) -> str | None:
        rows = self._run(get_statement(name))
        return str(rows[0][1]) if rows else None

    def _run(self, sql: str) -> list[Any]:
        cursor = self.cursor()
        cursor.execute(sql)
        return list(cursor.fetchall())

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        if bindings:
            raise DbtRuntimeError("sparkivm takes no bindings: write the values into the SQL")
        try:
            super().execute(sql)
        except Exception as error:
            clear = database_error(error)
            if NO_DELTA.search(str(clear)):
                clear = DbtDatabaseError(f"{clear.msg}\n{DELTA_HINT}")
            raise clear from error

    def _execute_with_polling(self, sql: str, bindings: list[Any] | None) -> None:
        from TCLIService.ttypes import TOperationState

        cursor = self._cursor
        assert cursor is not None
        started, pause = time.monotonic(), FIRST_POLL
        cursor.execute(sql.strip().rstrip(";"), async_=True)
        while True:
            answer = cursor.poll()
            state = TOperationState._VALUES_TO_NAMES.get(answer.operationState, "unknown")
            if state not in PENDING:
                break
            if self.query_timeout and time.monotonic() - started > self.query_timeout:
                self.cancel()
                raise DbtDatabaseError(f"the query ran longer than {self.query_timeout} seconds")
            time.sleep(pause)
            pause = min(2 * pause, self.poll_interval)
        if state != "FINISHED_STATE":
            raise _Failed(answer.errorMessage or f"the query ended as {state}")

    def fetchall(self) -> list[Any]:
        return self.fetchmany(None)

    def fetchone(self) -> Any | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        assert self._cursor is not None
        # A statement without a result (DDL) has no description, and PyHive refuses to fetch.
        if not self._cursor.description:
            return []
        try:
            rows = self._cursor.fetchall() if size is None else self._cursor.fetchmany(size)
        except Exception as error:
            raise database_error(error) from error
        return list(rows)

    def cancel(self) -> None:
        try:
            super().cancel()
        except Exception as error:
            logger.debug(f"cancel: {full_text(error)}")


class _Failed(Exception):
    """The server's own words, still with their Java stack."""
