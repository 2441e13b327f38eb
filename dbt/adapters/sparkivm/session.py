"""The one Spark session of a dbt process (method session), with Delta configured."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.sparkivm import doctor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_DIRECTORY = ".sparkivm"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
# Settings that hold a list: the profile adds to ours instead of replacing them.
LISTS = {
    "spark.sql.extensions": ",",
    "spark.jars.packages": ",",
    "spark.driver.extraJavaOptions": " ",
}

_lock = threading.Lock()
_root: SparkSession | None = None


def brings_delta(parameters: Mapping[str, str]) -> bool:
    """Does the profile name a Delta jar of its own?"""
    jars = parameters.get("spark.jars", "") + parameters.get("spark.jars.packages", "")
    return "delta-spark" in jars


def session_conf(
    parameters: Mapping[str, str], state: Path, package: str | None, cores: int
) -> dict[str, str]:
    """The settings the session starts with: our defaults under what the profile says."""
    conf = {
        "spark.master": "local[*]",
        "spark.app.name": "dbt-sparkivm",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f'"-Dderby.stream.error.file={state / "derby.log"}"',
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(max(4, 2 * cores)),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.extensions": DELTA_EXTENSION,
        "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(state / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={state / 'metastore'};create=true"
        ),
    }
    if package:
        conf["spark.jars.packages"] = package
    for name, value in parameters.items():
        separator = LISTS.get(name)
        ours = conf.get(name)
        if separator and ours and ours not in value:
            value = separator.join((ours, value))
        conf[name] = value
    return conf


def root_session(parameters: Mapping[str, str]) -> SparkSession:
    """The session all connections of this process derive from, started at the first call.

    Later calls get the same one, whatever they ask for: a JVM cannot change its static settings.
    """
    global _root
    with _lock:
        if _root is None or _root.sparkContext._jsc is None:
            _root = _start(parameters)
        return _root


def _start(parameters: Mapping[str, str]) -> SparkSession:
    doctor.check_java()
    package = None
    if not brings_delta(parameters):
        pyspark, delta = doctor.installed("pyspark"), doctor.installed("delta-spark")
        doctor.check_pair(pyspark, delta)
        assert pyspark and delta
        package = doctor.delta_package(pyspark, delta)

    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    # pyspark logs every failed statement as JSON on stderr; the error itself says it all.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    state = Path.cwd() / STATE_DIRECTORY
    state.mkdir(exist_ok=True)
    conf = session_conf(parameters, state, package, os.cpu_count() or 1)
    if SparkContext._active_spark_context is None and SparkContext._gateway is None:
        log = state / "spark.log"
        settings = SparkConf(loadDefaults=False).setAll(list(conf.items()))
        with log.open("wb") as stderr:
            try:
                gateway = launch_gateway(settings, {"stdout": stderr, "stderr": stderr})
            except PySparkException as error:
                text = log.read_text(errors="replace")
                raise doctor.explain_launch(text) or doctor.DoctorError(
                    "Spark did not start", f"see {log}"
                ) from error
        SparkContext._ensure_initialized(gateway=gateway)
    spark = SparkSession.builder.config(map=conf).getOrCreate()
    _check_delta(spark)
    return spark


def _check_delta(spark: SparkSession) -> None:
    """Spark only warns when an extension's class is missing; every later error is obscure."""
    from py4j.java_gateway import JavaClass

    if not isinstance(spark._jvm.io.delta.sql.DeltaSparkSessionExtension, JavaClass):
        raise doctor.DoctorError(
            "this Spark session has no Delta Lake",
            "leave spark.jars.packages and spark.sql.extensions to sparkivm, or name "
            "io.delta:delta-spark in them",
        )


def try_out() -> None:
    """Start a session once, so that jars are downloaded and problems show at set-up."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        try:
            spark = root_session({"spark.sql.catalogImplementation": "in-memory"})
            spark.sql("select 1").collect()
            spark.stop()
        finally:
            os.chdir(here)
