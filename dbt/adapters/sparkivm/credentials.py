"""The profile: `type: sparkivm` with method session, connect, thrift or http."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlparse

from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtRuntimeError

ANSI = "spark.sql.ansi.enabled"


class SparkivmConnectionMethod(StrEnum):
    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"
    HTTP = "http"


DEFAULT_PORTS = {
    SparkivmConnectionMethod.CONNECT: 15002,
    SparkivmConnectionMethod.THRIFT: 10000,
}


@dataclass
class SparkivmCredentials(SparkCredentials):
    method: SparkivmConnectionMethod = SparkivmConnectionMethod.SESSION  # type: ignore[assignment]
    url: str | None = None
    port: int | None = None  # type: ignore[assignment]
    server_side_parameters: dict[str, Any] = field(default_factory=dict)
    poll_interval: int = 1
    # A statement whose connection broke may have committed: repeating it could apply it twice.
    query_retries: int = 0

    def __post_init__(self) -> None:
        if self.url is not None:
            self._read_url(self.url)
        if self.host is None and self.method == SparkivmConnectionMethod.SESSION:
            self.host = "local"
        if self.port is None:
            self.port = DEFAULT_PORTS.get(self.method, 443)
        given = {
            str(key): str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in self.server_side_parameters.items()
        }
        super().__post_init__()
        # dbt-spark turns ANSI off; here Spark's own default holds unless the profile says so.
        self.server_side_parameters = given

    def _read_url(self, url: str) -> None:
        if self.method != SparkivmConnectionMethod.CONNECT:
            raise DbtRuntimeError("`url` in the profile needs `method: connect`")
        parts = urlparse(url)
        if parts.scheme != "sc" or not parts.hostname:
            raise DbtRuntimeError(
                "`url` in the profile must look like sc://host:port, as Spark Connect has it"
            )
        self.host = parts.hostname
        self.port = parts.port or self.port

    @property
    def connect_url(self) -> str:
        return self.url or f"sc://{self.host}:{self.port}"

    @property
    def type(self) -> str:
        return "sparkivm"

    def _connection_keys(self) -> tuple[str, ...]:
        # Not `url`: it may carry a token.
        return "method", "host", "port", "schema"
