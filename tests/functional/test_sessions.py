"""What a connection promises: isolation, settings, errors, cancelling, real servers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.sparkivm import SparkivmConnectionManager, SparkivmCredentials
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtDatabaseError

Open = Callable[..., Any]


def connect(profile: dict[str, Any]) -> Any:
    fields = {"schema": "default", **profile}
    fields.pop("type", None)
    fields.pop("threads", None)
    connection = Connection(
        type="sparkivm",
        name="test",
        state=ConnectionState.INIT,
        credentials=SparkivmCredentials.from_dict(fields),
    )
    return SparkivmConnectionManager.open(connection).handle


@pytest.fixture
def open_session(session_parameters: dict[str, str]) -> Open:
    def open_with(**more: str) -> Any:
        parameters = {**session_parameters, **more}
        return connect({"method": "session", "server_side_parameters": parameters})

    return open_with


def rows(handle: Any, sql: str) -> list[tuple[Any, ...]]:
    cursor = handle.cursor()
    cursor.execute(sql)
    return [tuple(row) for row in cursor.fetchall()]


def test_threads_have_their_own_settings_and_views(open_session: Open) -> None:
    seen: dict[str, Any] = {}
    both_set = threading.Barrier(2, timeout=60)

    def work(name: str) -> None:
        handle = open_session()
        rows(handle, f"set my.own.setting={name}")
        rows(handle, f"create or replace temporary view mine as select '{name}' as who")
        both_set.wait()
        seen[name] = rows(handle, "set my.own.setting") + rows(handle, "select who from mine")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {n: [("my.own.setting", n), (n,)] for n in ("a", "b")}


def test_ansi_is_on_unless_the_profile_says_otherwise(open_session: Open) -> None:
    assert open_session().settings["spark.sql.ansi.enabled"] == "true"
    loose = open_session(**{"spark.sql.ansi.enabled": "false"})
    assert loose.settings["spark.sql.ansi.enabled"] == "false"
    assert rows(loose, "select cast('x' as int)") == [(None,)]


def test_profile_settings_hold_and_some_are_forced(open_session: Open) -> None:
    handle = open_session(
        **{
            "spark.sql.session.timeZone": "Europe/Berlin",
            "spark.sql.files.ignoreMissingFiles": "true",
        }
    )
    assert handle.settings["spark.sql.session.timeZone"] == "Europe/Berlin"
    missing = rows(handle, "set spark.sql.files.ignoreMissingFiles")
    assert missing == [("spark.sql.files.ignoreMissingFiles", "false")]
    rows(handle, "set spark.sql.shuffle.partitions=7")
    assert rows(handle, "set spark.sql.shuffle.partitions")[0][1] == "7"


@pytest.mark.parametrize(
    ("sql", "error_class"),
    [
        ("select * from nowhere.nothing", "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("select 1 / 0", "[DIVIDE_BY_ZERO]"),
        ("selec 1", "[PARSE_SYNTAX_ERROR]"),
        ("select raise_error('told you')", "[USER_RAISED_EXCEPTION] told you"),
    ],
)
def test_errors_are_short(open_session: Open, sql: str, error_class: str) -> None:
    with pytest.raises(DbtDatabaseError) as raised:
        open_session().cursor().execute(sql)
    message = str(raised.value)
    assert error_class in message
    assert "\tat " not in message and "java.lang" not in message
    assert len(message.splitlines()) <= 10


def test_an_error_inside_a_write_is_told(open_session: Open) -> None:
    handle = open_session()
    rows(handle, "create table if not exists default.broken (id bigint) using delta")
    with pytest.raises(DbtDatabaseError, match=r"\[USER_RAISED_EXCEPTION\] stale"):
        handle.cursor().execute(
            "insert into default.broken select if(id >= 0, raise_error('stale'), id) from range(9)"
        )
    rows(handle, "drop table default.broken")


def test_a_select_without_fetch_runs(open_session: Open) -> None:
    with pytest.raises(DbtDatabaseError, match="USER_RAISED_EXCEPTION"):
        open_session().cursor().execute("/* hook */ -- c\n (select raise_error('ran'))")


def test_cursor_describes_and_fetches(open_session: Open) -> None:
    cursor = open_session().cursor()
    cursor.execute("select id, cast(id as decimal(10, 2)) as amount from range(3) order by id;")
    assert [(c[0], c[1]) for c in cursor.description] == [
        ("id", "bigint"),
        ("amount", "decimal(10,2)"),
    ]
    assert cursor.fetchone()[0] == 0
    assert [row[0] for row in cursor.fetchmany(1)] == [1]
    assert [row[0] for row in cursor.fetchall()] == [2]
    assert cursor.fetchone() is None


def test_cancel_stops_a_running_statement(open_session: Open) -> None:
    handle = open_session()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            rows(handle, "select count(*) from range(1e12) where pmod(hash(id), 7) = 1")
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.5)
        handle.cancel()
    thread.join(timeout=5)
    assert not thread.is_alive() and isinstance(failed[0], DbtDatabaseError)


@pytest.mark.parametrize("method", ["connect", "thrift"])
def test_a_missing_server_is_told_quickly(method: str) -> None:
    started = time.monotonic()
    profile = {"method": method, "host": "127.0.0.1", "port": 1, "user": "dbt"}
    with pytest.raises(FailedToConnectError, match="start it, or correct host and port"):
        connect(profile)
    assert time.monotonic() - started < 15


def test_connect_to_something_else_is_told_quickly() -> None:
    import socket

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        started = time.monotonic()
        with pytest.raises(FailedToConnectError, match="not a Spark Connect server"):
            connect({"method": "connect", "host": "127.0.0.1", "port": deaf.getsockname()[1]})
        assert time.monotonic() - started < 15


MODELS = {
    "doubled.sql": "{{ config(materialized='table') }} select id, 2 * id as twice, name "
    "from {{ ref('things') }}",
    "later.sql": "{{ config(materialized='incremental', incremental_strategy='merge', "
    "unique_key='id') }} select * from {{ ref('doubled') }}",
    "failing.sql": "{{ config(materialized='table', enabled=var('fail', false)) }} "
    "select id / (id - id) as x from {{ ref('things') }}",
}
SEEDS = {"things.csv": "id,name\n9007199254740993,O'Brien\n2,\n"}


class OverAnyMethod:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return SEEDS

    def test_seed_and_run(self, project: Any) -> None:
        for _ in range(2):
            run_dbt(["seed"])
            run_dbt(["run"])
        for table in ("doubled", "later"):
            found = project.run_sql(f"select * from {{schema}}.{table} order by id", fetch="all")
            assert [tuple(row) for row in found] == [
                (2, 4, None),
                (9007199254740993, 18014398509481986, "O'Brien"),
            ]
            history = project.run_sql(f"describe history {{schema}}.{table}", fetch="all")
            assert len(history) == 2

    def test_a_failing_model_has_a_short_message(self, project: Any) -> None:
        run_dbt(["seed"])
        results = run_dbt(
            ["run", "--select", "failing", "--vars", "{fail: true}"], expect_pass=False
        )
        message = results[0].message
        assert "[DIVIDE_BY_ZERO]" in message
        assert len(message.splitlines()) < 12 and "\tat " not in message


class TestSession(OverAnyMethod):
    pass


class TestConnect(OverAnyMethod):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, connect_server: Any) -> dict[str, Any]:
        return connect_server.profile("connect")

    def test_settings(self, project: Any) -> None:
        check_settings(project)


class TestThrift(OverAnyMethod):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, thrift_server: Any) -> dict[str, Any]:
        return thrift_server.profile("thrift")

    def test_settings(self, project: Any) -> None:
        check_settings(project)


def check_settings(project: Any) -> None:
    with project.adapter.connection_named("settings"):
        handle = project.adapter.connections.get_thread_connection().handle
        assert handle.settings["spark.sql.ansi.enabled"] == "true"
        assert "spark.sql.session.timeZone" in handle.settings
        assert rows(handle, "set spark.sql.shuffle.partitions")[0][1] == "2"
        assert rows(handle, "set spark.sql.files.ignoreMissingFiles")[0][1] == "false"
