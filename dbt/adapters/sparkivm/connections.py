"""How dbt opens, uses and cancels connections of `type: sparkivm`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import PyhiveConnectionWrapper, SparkConnectionManager
from dbt.adapters.sparkivm.credentials import SparkivmConnectionMethod as Method
from dbt.adapters.sparkivm.credentials import SparkivmCredentials
from dbt.adapters.sparkivm.doctor import DoctorError
from dbt.adapters.sparkivm.handles import ConnectHandle, SparkHandle
from dbt.adapters.sparkivm.messages import database_error, logger
from dbt.adapters.sparkivm.thrift import ThriftHandle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Together less than the 15 seconds in which a missing server must be told.
TCP_TIMEOUT = 5
CHANNEL_TIMEOUT = 8


class SparkivmConnectionManager(SparkConnectionManager):
    TYPE = "sparkivm"

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:  # type: ignore[override]
        try:
            yield
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}")
            raise database_error(error) from error

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        try:
            if credentials.method == Method.SESSION:
                connection.handle = _open_session(credentials)
            elif credentials.method == Method.CONNECT:
                connection.handle = _open_connect(credentials)
            else:
                _check_reachable(credentials)
                super().open(connection)
                stock: Any = connection.handle
                assert isinstance(stock, PyhiveConnectionWrapper)
                connection.handle = ThriftHandle(stock, credentials.server_side_parameters)
        except Exception as error:
            connection.handle = None
            connection.state = ConnectionState.FAIL  # type: ignore[assignment]
            if isinstance(error, FailedToConnectError):
                raise
            if isinstance(error, DoctorError):
                raise FailedToConnectError(str(error)) from error
            raise FailedToConnectError(str(database_error(error))) from error
        connection.state = ConnectionState.OPEN  # type: ignore[assignment]
        return connection


def _open_session(credentials: SparkivmCredentials) -> SparkHandle:
    from dbt.adapters.sparkivm.session import root_session

    parameters = credentials.server_side_parameters
    return SparkHandle(root_session(parameters).newSession(), parameters)


def _open_connect(credentials: SparkivmCredentials) -> ConnectHandle:
    _check_reachable(credentials)
    return ConnectHandle(
        _remote_session(credentials.connect_url), credentials.server_side_parameters
    )


def _remote_session(url: str) -> SparkSession:
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise DoctorError(
            f"method connect needs {error.name}", "pip install 'dbt-sparkivm[connect]'"
        ) from error
    # Against a port that speaks something else pyspark itself would try for minutes.
    channel = DefaultChannelBuilder(url).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=CHANNEL_TIMEOUT)
    except grpc.FutureTimeoutError as error:
        raise FailedToConnectError("what answers there is not a Spark Connect server") from error
    finally:
        channel.close()
    return RemoteSession.builder.remote(url).create()  # type: ignore[return-value]


def _check_reachable(credentials: SparkivmCredentials) -> None:
    if credentials.method == Method.HTTP:
        return
    host, port = credentials.host, credentials.port or 0
    try:
        socket.create_connection((host, port), timeout=TCP_TIMEOUT).close()
    except OSError as error:
        raise FailedToConnectError(
            f"no server for method {credentials.method} answers at {host}:{port} ({error}): "
            "start it, or correct host and port in the profile"
        ) from error
