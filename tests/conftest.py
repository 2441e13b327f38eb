"""One Spark session per process (in-memory catalog), the same whichever test comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER_MEMORY = "2g"
# Statements are small and mostly new, so Java's optimizing compiler costs much at first. Without it
# the default cache for compiled code is so small that it thrashes.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"


@pytest.fixture(scope="session")
def session_parameters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "spark.master": "local[2]",
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }


@pytest.fixture(scope="session")
def root(
    session_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> SparkSession:
    """What dbt and the tests derive their sessions from; its log lies in a folder of its own."""
    from dbt.adapters.sparkivm.session import root_session

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("session"))
        return root_session(session_parameters)
