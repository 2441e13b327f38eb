"""dbt projects on the Spark session of this process, and real servers on request.

Everything here is on Delta; the warehouse lies in a temporary folder. A test that wants a dbt
project uses the fixture `project`, with `models`, `seeds`, ... of dbt's own test fixtures.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.sparkivm.session import DELTA_CATALOG, DELTA_EXTENSION
from dbt.tests.fixtures.project import *  # noqa: F403 (fixtures; pytest_plugins must be at the root)
from pyspark.sql import SparkSession

from tests.conftest import DRIVER_MEMORY, JAVA_OPTIONS

SERVER_UP_WITHIN = 120
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
SERVERS = {"connect_server", "thrift_server"}


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker starts the servers, and one builds the project that a class shares."""
    here = Path(__file__).parent
    for item in items:
        if here not in item.path.parents:
            continue
        item.add_marker(pytest.mark.spark)
        used = getattr(item, "fixturenames", ())
        shared = item.getparent(pytest.Class)
        if not SERVERS.isdisjoint(used):
            item.add_marker(pytest.mark.xdist_group("servers"))
        elif shared is not None and "project" in used:
            item.add_marker(pytest.mark.xdist_group(shared.nodeid))


@pytest.fixture(scope="session", autouse=True)
def started(root: SparkSession) -> None:
    """Else the first `dbt run` would start the session, in its own project's folder."""


@pytest.fixture(scope="class")
def dbt_profile_target(session_parameters: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "sparkivm",
        "method": "session",
        "threads": 2,
        "server_side_parameters": dict(session_parameters),
    }


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """dbt's own fixture writes into the repository."""
    folder = str(tmp_path_factory.mktemp("logs"))
    os.environ["DBT_LOG_PATH"] = folder
    yield folder
    del os.environ["DBT_LOG_PATH"]


@dataclass(frozen=True)
class Server:
    host: str
    port: int

    def profile(self, method: str) -> dict[str, Any]:
        return {
            "type": "sparkivm",
            "method": method,
            "host": self.host,
            "port": self.port,
            "user": "dbt",
            "threads": 2,
            "server_side_parameters": {"spark.sql.shuffle.partitions": "2"},
        }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def jars(root: SparkSession) -> list[str]:
    """What Spark's package resolution found for this process's own session."""
    resolved = root.sparkContext.getConf().get("spark.jars", "")
    return [jar.removeprefix("file://") for jar in str(resolved).split(",")]


def serve(main_class: str, port_setting: str, folder: Path, jars: list[str]) -> Iterator[Server]:
    """A server started from the pip package, stopped at the end; its files lie in `folder`."""
    import pyspark

    port = free_port()
    home = Path(pyspark.__path__[0])
    conf = {
        port_setting: str(port),
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder / 'metastore'};create=true"
        ),
    }
    command = [str(home / "bin" / "spark-submit"), "--class", main_class, "--master", "local[2]"]
    command += ["--driver-memory", DRIVER_MEMORY, "--driver-java-options", JAVA_OPTIONS]
    command += ["--jars", ",".join(jars)]
    # The Thrift server's own threads see only what is on the class path.
    command += ["--driver-class-path", ":".join(jar for jar in jars if "io.delta_" in jar)]
    for name, value in conf.items():
        command += ["--conf", f"{name}={value}"]
    log = folder / "server.log"
    environment = {**os.environ, "SPARK_HOME": str(home)}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, env=environment, stdout=out, stderr=out
        )
    try:
        _wait_until_up(process, port, log)
        yield Server("127.0.0.1", port)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + SERVER_UP_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    pytest.fail(f"the server did not come up:\n{log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="session")
def connect_server(tmp_path_factory: pytest.TempPathFactory, jars: list[str]) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("connect")
    yield from serve(CONNECT_SERVER, "spark.connect.grpc.binding.port", folder, jars)


@pytest.fixture(scope="session")
def thrift_server(tmp_path_factory: pytest.TempPathFactory, jars: list[str]) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("thrift")
    yield from serve(THRIFT_SERVER, "spark.hadoop.hive.server2.thrift.port", folder, jars)
