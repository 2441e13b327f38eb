from __future__ import annotations

from pathlib import Path

import pytest
from dbt.adapters.sparkivm import SparkivmCredentials, session
from dbt.adapters.sparkivm.messages import shorten
from dbt.adapters.sparkivm.settings import read_settings, set_statement, wanted
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError

PACKAGE = "io.delta:delta-spark_4.1_2.13:4.4.0"
STATE = Path("project") / ".sparkivm"


def conf(**parameters: str) -> dict[str, str]:
    given = {name.replace("__", "."): value for name, value in parameters.items()}
    return session.session_conf(given, STATE, PACKAGE, cores=2)


def test_delta_and_a_local_catalog_come_by_default() -> None:
    found = conf()
    assert found["spark.jars.packages"] == PACKAGE
    assert found["spark.sql.extensions"] == session.DELTA_EXTENSION
    assert found["spark.sql.warehouse.dir"] == str(STATE / "warehouse")
    assert str(STATE / "metastore") in found["spark.hadoop.javax.jdo.option.ConnectionURL"]
    assert found["spark.sql.shuffle.partitions"] == "4"


def test_what_would_make_sql_mean_something_else_is_refused() -> None:
    name = "spark.sql.ansi.doubleQuotedIdentifiers"
    assert wanted({name: "False"})[name] == "False"
    with pytest.raises(DbtConfigError, match=name):
        wanted({name: "true"})


def test_settings_that_change_results_are_known_by_name_or_family() -> None:
    now = {"spark.sql.ansi.enabled": "true", "spark.sql.legacy.x": "1", "spark.sql.shuffle": "2"}
    found = read_settings(now.get, {"spark.sql.legacy.x": "0", "spark.sql.shuffle": "2"})
    assert found == {"spark.sql.ansi.enabled": "true", "spark.sql.legacy.x": "1"}


def test_the_profile_wins() -> None:
    found = conf(spark__driver__memory="8g", spark__sql__catalogImplementation="in-memory")
    assert found["spark.driver.memory"] == "8g"
    assert found["spark.sql.catalogImplementation"] == "in-memory"


def test_lists_are_added_to() -> None:
    found = conf(spark__sql__extensions="my.Extension", spark__jars__packages="a:b:1")
    assert found["spark.sql.extensions"] == f"{session.DELTA_EXTENSION},my.Extension"
    assert found["spark.jars.packages"] == f"{PACKAGE},a:b:1"


def test_a_jar_of_the_profile_is_seen() -> None:
    assert session.brings_delta({"spark.jars": "/jars/delta-spark_4.1_2.13-4.4.0.jar"})
    assert not session.brings_delta({"spark.jars": "/jars/other.jar"})


def test_credentials() -> None:
    plain = SparkivmCredentials.from_dict(
        {"schema": "s", "server_side_parameters": {"spark.x": True, "spark.y": 3}}
    )
    assert (plain.method, plain.host) == ("session", "local")
    assert plain.server_side_parameters == {"spark.x": "true", "spark.y": "3"}
    remote = SparkivmCredentials.from_dict(
        {"schema": "s", "method": "connect", "url": "sc://h:7/;token=secret"}
    )
    assert (remote.host, remote.port, remote.connect_url) == ("h", 7, "sc://h:7/;token=secret")
    assert "url" not in dict(remote.connection_info())
    with pytest.raises(DbtRuntimeError, match="must look like sc://host:port"):
        SparkivmCredentials.from_dict({"schema": "s", "method": "connect", "url": "http://h"})
    server = SparkivmCredentials.from_dict(
        {"schema": "s", "method": "thrift", "host": "h", "user": "u"}
    )
    assert server.port == 10000


def test_settings_are_quoted_and_checked() -> None:
    assert set_statement("spark.a", "x`; drop table t") == "set `spark.a`=`x``; drop table t`"
    assert wanted({"spark.a": "1"})["spark.sql.files.ignoreMissingFiles"] == "false"
    with pytest.raises(DbtConfigError, match="not the name of a setting"):
        wanted({"a` = 1": "1"})


def test_plans_and_stacks_are_cut() -> None:
    text = (
        "[TABLE_OR_VIEW_NOT_FOUND] The table cannot be found. SQLSTATE: 42P01; line 1 pos 14;\n"
        "'Project [*]\n+- 'UnresolvedRelation [a, b], [], false\n\n"
        "JVM stacktrace:\norg.apache.spark.sql.X\n\tat org.apache.spark.Y.z(Y.scala:1)"
    )
    assert shorten(text) == text.splitlines()[0]
    nested = (
        "[TASK_WRITE_FAILED] Task failed while writing rows to x.\n\tat a.B.c(B.java:1)\n"
        "Caused by: org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] stale\n"
        "\tat d.E.f(E.java:2)"
    )
    assert shorten(nested) == "[USER_RAISED_EXCEPTION] stale"
