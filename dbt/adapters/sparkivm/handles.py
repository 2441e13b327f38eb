"""Connection and cursor over a SparkSession, in this process or over Spark Connect."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sparkivm.messages import database_error, full_text
from dbt.adapters.sparkivm.settings import read_settings, wanted
from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

logger = AdapterLogger("Sparkivm")

LEADING_COMMENTS = r"(?:\s|/\*.*?\*/|--[^\n]*(?:\n|$))*"
QUERY = re.compile(
    LEADING_COMMENTS + r"\(*" + LEADING_COMMENTS + r"(?:select|with|values|from|table)\b",
    re.IGNORECASE | re.DOTALL,
)
Description = tuple[str, str, None, None, None, None, bool]


def is_query(sql: str) -> bool:
    """Would Spark wait for somebody to fetch before it runs this?

    >>> is_query("/* dbt */ -- why\\n (select raise_error('x'))")
    True
    >>> is_query("insert into t select 1")
    False
    """
    return QUERY.match(sql) is not None


class Cursor:
    def __init__(self, handle: SparkHandle) -> None:
        self._handle = handle
        self._frame: DataFrame | None = None
        self._rows: list[Row] | None = None
        self._next = 0

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        if bindings:
            raise DbtRuntimeError("sparkivm takes no bindings: write the values into the SQL")
        self.close()
        try:
            with self._handle.cancellable():
                self._frame = self._handle.spark.sql(sql.strip().rstrip(";"))
                if is_query(sql):
                    self._rows = self._frame.collect()
        except Exception as error:
            raise database_error(error) from error

    @property
    def description(self) -> list[Description]:
        if self._frame is None:
            return []
        return [
            (f.name, f.dataType.simpleString(), None, None, None, None, f.nullable)
            for f in self._frame.schema.fields
        ]

    def fetchall(self) -> list[Row]:
        return self.fetchmany(None)

    def fetchone(self) -> Row | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        if self._rows is None and self._frame is not None:
            try:
                self._rows = self._frame.collect()
            except Exception as error:
                raise database_error(error) from error
        rows = self._rows or []
        end = len(rows) if size is None else self._next + size
        taken = rows[self._next : end]
        self._next += len(taken)
        return taken

    def close(self) -> None:
        self._frame, self._rows, self._next = None, None, 0


class SparkHandle:
    """One dbt connection: a session of its own, so that SETs and temporary views stay in it."""

    def __init__(self, spark: SparkSession, parameters: Mapping[str, str]) -> None:
        self.spark = spark
        self._tag = f"dbt-{uuid.uuid4().hex}"
        try:
            for name, value in wanted(parameters).items():
                self._apply(name, value)
            self.settings = self.read_settings(parameters)
        except Exception as error:
            raise database_error(error) from error

    # Static settings went to the builder, when there was one; setting them again is refused.
    _unmodifiable: set[str] = set()

    def _apply(self, name: str, value: str) -> None:
        from pyspark.errors import PySparkException

        if name in self._unmodifiable:
            return
        try:
            self.spark.conf.set(name, value)
        except PySparkException as error:
            if "CANNOT_MODIFY" not in full_text(error):
                raise
            self._unmodifiable.add(name)
            self._refused(name)

    def read_settings(self, parameters: Mapping[str, str]) -> dict[str, str]:
        return read_settings(self._read, parameters)

    def _read(self, name: str) -> str | None:
        from pyspark.errors import PySparkException

        try:
            # With a default of None pyspark would answer None for all that is not set explicitly.
            return self.spark.conf.get(name)
        except PySparkException as error:
            if "SQL_CONF_NOT_FOUND" not in full_text(error):
                raise
            return None

    def _refused(self, name: str) -> None:
        logger.debug(f"{name} is fixed at the start of a session")

    def cursor(self) -> Cursor:
        return Cursor(self)

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        # The session's own tags are known only to the thread that set them; another one cancels.
        context = self.spark.sparkContext
        context.addJobTag(self._tag)
        try:
            yield
        finally:
            context.removeJobTag(self._tag)

    def cancel(self) -> None:
        try:
            self._interrupt()
        except Exception as error:
            logger.debug(f"cancel: {full_text(error)}")

    def _interrupt(self) -> None:
        self.spark.sparkContext.cancelJobsWithTag(self._tag)

    def close(self) -> None:
        """The session itself ends with its last reference; stop() would end it for all."""

    def rollback(self) -> None:
        logger.debug("Spark has no transactions to roll back")


class ConnectHandle(SparkHandle):
    _unmodifiable: set[str] = set()

    def _refused(self, name: str) -> None:
        logger.warning(f"{name} cannot be set on a running server: give it to the server instead")

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        self.spark.addTag(self._tag)
        yield

    def _interrupt(self) -> None:
        self.spark.interruptTag(self._tag)

    def close(self) -> None:
        # Sessions left open hang the process at exit.
        self.spark.stop()
