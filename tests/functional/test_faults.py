"""A refresh that is stopped anywhere, done twice, or done by two at once.

Most of these drive `Refresh` itself, with the same statements that `dbt run` sends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.sparkivm.config import IvmConfig
from dbt.adapters.sparkivm.executor import Executor
from dbt.adapters.sparkivm.keys import Keys
from dbt.adapters.sparkivm.messages import database_error
from dbt.adapters.sparkivm.refresh import Refresh
from dbt.adapters.sparkivm.report import Outcome
from dbt.adapters.sparkivm.target import Target
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from ivm import names
from ivm.catalog import ForeignKey, PrimaryKey
from ivm.errors import IvmError
from tests.functional.warehouse import FEED, Warehouse, model, sources

ROWS = "select id, x + 1 as x from {s}.numbers where id > 0"
GROUPS = "select y, count(*) as n, sum(x) as x from {s}.numbers group by y"
BAG = "select x, y from {s}.numbers"
# Found by two columns, which takes a MERGE; ROWS are found by one.
PAIRS = "select a.x as x, b.x as other from {s}.numbers a join {s}.numbers b on a.y = b.y"
FLOATS = "select y, sum(cast(x as double)) as x from {s}.numbers group by y"
READS = ("state", "version", "look", "measure", "size", "check")


class Crash(BaseException):
    """The process is gone: nothing catches this, nothing runs after it."""


class IdKeys(Keys):
    def __init__(self) -> None:
        super().__init__(None)

    def primary_key(self, table: str, columns: tuple[str, ...]) -> PrimaryKey | None:
        return PrimaryKey(("id",), "test") if "id" in columns else None

    def foreign_keys(self, table: str, columns: tuple[str, ...]) -> tuple[ForeignKey, ...]:
        return ()


def writes(purpose: str) -> bool:
    return not purpose.startswith(READS)


@dataclass
class Fragile(Executor):
    """Dies after `last` statements; `before` may do something ahead of each.

    Unless it dies `everywhere`, it passes over a stop between two reads: like one before both.
    """

    last: int | None = None
    everywhere: bool = False
    before: Callable[[str], None] = lambda purpose: None

    def _run(self, purpose: str, sql: str, fetch: bool) -> list[dict[str, Any]]:
        self.before(purpose)
        ran = [s.purpose for s in self.statements]
        differs = self.everywhere or not ran or writes(ran[-1]) or writes(purpose)
        if self.last is not None and len(ran) >= self.last and differs:
            raise Crash(purpose)
        return super()._run(purpose, sql, fetch)


@dataclass
class View:
    """A maintained view `v` of one schema, refreshed without dbt around it."""

    spark: SparkSession
    schema: str
    sql: str
    name: str = "v"

    def again(self, sql: str) -> View:
        return View(self.spark, self.schema, sql, self.name)

    def apart(self) -> View:
        """The same in a session of its own, as another thread or process has it."""
        return View(self.spark.newSession(), self.schema, self.sql, self.name)

    @property
    def query(self) -> str:
        return self.sql.format(s=self.schema)

    def do(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.format(s=self.schema))

    def rows(self, query: str) -> Counter[Any]:
        return Counter(tuple(row) for row in self.spark.sql(query).collect())

    def shown(self) -> Counter[Any] | None:
        kinds = self.spark.sql(f"SHOW VIEWS IN {self.schema} LIKE '{self.name}'").collect()
        return self.rows(f"SELECT * FROM {self.schema}.{self.name}") if kinds else None

    def expected(self) -> Counter[Any]:
        return self.rows(self.query)

    def target(self) -> Target:
        found = {
            r["tableName"]: r["information"]
            for r in self.spark.sql(
                f"SHOW TABLE EXTENDED IN {self.schema} LIKE '{self.name}*'"
            ).collect()
        }
        text = found.get(self.name, "")
        kind = "" if not text else ("view" if "Type: VIEW" in text else "table")
        slots = names.storage_names(self.name)
        storages = tuple(s for s in slots if s in found)
        return Target(self.schema, self.name, storages, kind, text)

    def _sql(self, sql: str, fetch: bool) -> list[dict[str, Any]]:
        try:
            return [row.asDict() for row in self.spark.sql(sql).collect()]
        except Exception as error:
            raise database_error(error) from error

    def plan(self, **options: Any) -> Refresh:
        return Refresh(
            model=self.name,
            sql=self.query,
            target=self.target(),
            config=IvmConfig(refresh="incremental"),
            executor=Fragile(self._sql, **options),
            keys=IdKeys(),
            settings={"spark.sql.session.timeZone": "UTC"},
            explicit=frozenset(),
            drop_table=lambda: self._drop_table(),
        )

    def _drop_table(self) -> None:
        self.do(f"DROP TABLE IF EXISTS {{s}}.{self.name}")

    def refresh(self, **options: Any) -> Outcome:
        return self.plan(**options).run()

    def assert_exact(self) -> None:
        assert self.shown() == self.expected()
        storages = self.target().storages
        assert len(storages) == 1, storages
        control = names.CONTROL
        found = self.rows(
            f"SELECT {control} FROM {self.schema}.{storages[0]} WHERE {control} IS NOT NULL"
        )
        assert sum(found.values()) == 1


@pytest.fixture
def view(root: SparkSession, request: pytest.FixtureRequest) -> Iterator[View]:
    spark = root.newSession()
    schema = f"faults_{abs(hash(request.node.name)) % 10**8}"
    view = View(spark, schema, ROWS)
    view.do(
        f"DROP SCHEMA IF EXISTS {schema} CASCADE",
        f"CREATE SCHEMA {schema}",
        f"CREATE TABLE {schema}.numbers (id INT, x INT, y STRING) USING delta {FEED}",
        f"INSERT INTO {schema}.numbers VALUES "
        "(1, 1, 'a'), (2, 2, 'a'), (3, NULL, 'b'), (4, 4, 'c')",
    )
    yield view
    view.do(f"DROP SCHEMA {schema} CASCADE")


def change(view: View, n: int) -> None:
    """One commit with an insert, an update and a delete in it."""
    view.do(
        f"MERGE INTO {{s}}.numbers t USING (SELECT * FROM VALUES ({n % 3 + 1}, 'u'), (4, 'd'), "
        f"({100 + n}, 'i') v(id, op)) d ON t.id = d.id "
        f"WHEN MATCHED AND d.op = 'u' THEN UPDATE SET x = coalesce(t.x, 0) + {n + 1}, y = 'u{n}' "
        "WHEN MATCHED THEN DELETE "
        f"WHEN NOT MATCHED THEN INSERT (id, x, y) VALUES (d.id, {n}, 'a')"
    )


def stopped_everywhere(prepare: Callable[[int], View], everywhere: bool) -> list[str]:
    """Stop after 0, 1, 2, ... statements until a refresh is through; each time run again."""
    last = 0
    while True:
        view = prepare(last)
        old = view.shown()
        refresh = view.plan(last=last, everywhere=everywhere)
        try:
            refresh.run()
            through = True
        except Crash:
            through = False
        ran = [s.purpose for s in refresh.executor.statements]
        assert view.shown() in (old, view.expected()), ran
        view.apart().refresh()
        view.assert_exact()
        if through:
            return ran
        last = len(ran) + 1


class Everywhere:
    everywhere = False

    def test_first_build(self, view: View) -> None:
        def prepare(n: int) -> View:
            return View(view.spark, view.schema, ROWS, f"v{n}")

        ran = stopped_everywhere(prepare, self.everywhere)
        assert "build the storage" in ran and "create the facade" in ran

    def test_a_leftover_table(self, view: View) -> None:
        def prepare(n: int) -> View:
            new = View(view.spark, view.schema, GROUPS, f"v{n}")
            new.do(f"CREATE TABLE {{s}}.v{n} USING delta AS SELECT 'old' AS what")
            return new

        ran = stopped_everywhere(prepare, self.everywhere)
        assert "create the facade" in ran

    @pytest.mark.parametrize(
        "sql",
        [
            pytest.param(ROWS, id="rows"),
            pytest.param(GROUPS, id="groups"),
            pytest.param(PAIRS, id="pairs", marks=pytest.mark.full),
            pytest.param(BAG, id="bag", marks=pytest.mark.full),
            pytest.param(FLOATS, id="floats", marks=pytest.mark.full),
        ],
    )
    def test_incremental(self, view: View, sql: str) -> None:
        maintained = view.again(sql)
        maintained.refresh()

        def prepare(n: int) -> View:
            change(maintained, n)
            return maintained

        ran = stopped_everywhere(prepare, self.everywhere)
        assert any(s.startswith("commit") for s in ran)

    def test_definition_change(self, view: View) -> None:
        view.refresh()

        def prepare(n: int) -> View:
            change(view, n)
            return view.again(ROWS + f" and id <> {1000 + n}")

        ran = stopped_everywhere(prepare, self.everywhere)
        assert "drop the old storage" in ran


class TestStoppedAnywhere(Everywhere):
    pass


@pytest.mark.full
class TestStoppedEverywhere(Everywhere):
    everywhere = True


# -- twice -----------------------------------------------------------------------------------------


class Once:
    """Does something ahead of the first statement whose purpose starts so."""

    def __init__(self, purpose: str, action: Callable[[], object]) -> None:
        self.purpose, self.action, self.done = purpose, action, False

    def __call__(self, purpose: str) -> None:
        if not self.done and purpose.startswith(self.purpose):
            self.done = True
            self.action()


@pytest.mark.parametrize(
    "sql", [ROWS, PAIRS, GROUPS, BAG, FLOATS], ids=["rows", "pairs", "groups", "bag", "floats"]
)
def test_a_second_refresh_from_the_same_state_is_refused(view: View, sql: str) -> None:
    view = view.again(sql)
    view.refresh()
    change(view, 0)
    other = view.apart()

    def meanwhile() -> None:
        assert other.refresh().strategy == "incremental"
        change(other, 1)

    refresh = view.plan(before=Once("commit", meanwhile))
    refresh.run()
    failed = [s for s in refresh.executor.statements if s.error]
    assert len(failed) == 1 and failed[0].purpose.startswith("commit")
    view.assert_exact()


def test_moving_the_versions_twice_is_refused(view: View) -> None:
    view.refresh()
    view.do("OPTIMIZE {s}.numbers", "ALTER TABLE {s}.numbers SET TBLPROPERTIES (mine = 'x')")
    other = view.apart()
    refresh = view.plan(before=Once("move", other.refresh))
    assert refresh.run().reason == "no source changed"
    assert [s.purpose for s in refresh.executor.statements if s.error] == ["move the versions"]
    view.assert_exact()


@pytest.mark.parametrize("sql", [ROWS, PAIRS, GROUPS], ids=["rows", "pairs", "groups"])
def test_a_control_row_that_vanishes_is_not_inserted_again(view: View, sql: str) -> None:
    view = view.again(sql)
    view.refresh()
    change(view, 0)

    def vanish() -> None:
        view.do(f"DELETE FROM {{s}}.v__ivm WHERE {names.CONTROL} IS NOT NULL")

    outcome = view.refresh(before=Once("commit", vanish))
    assert (outcome.strategy, "0 control rows" in outcome.reason) == ("full rebuild", True)
    view.assert_exact()


def test_a_rebuild_beside_a_refresh(view: View) -> None:
    view.refresh()
    change(view, 0)
    other = view.apart().again(ROWS + " and id < 5000")
    refresh = view.plan(before=Once("commit", other.refresh))
    with pytest.raises(Exception, match="v__ivm"):
        refresh.run()
    other.assert_exact()


# -- two at once -----------------------------------------------------------------------------------


def race(view: View, rounds: int) -> None:
    """Two threads refresh while changes arrive; what one loses, the other or the next run has."""
    view.refresh()
    done = threading.Event()
    wrong: list[BaseException] = []

    def work(mine: View) -> None:
        while not done.is_set():
            try:
                mine.refresh()
            except IvmError as error:
                if "got in the way" not in str(error):
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(view.apart(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(rounds):
        change(view, n)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    view.refresh()
    view.assert_exact()


@pytest.mark.parametrize("sql", [ROWS, BAG, GROUPS], ids=["rows", "bag", "groups"])
def test_two_threads(view: View, sql: str) -> None:
    race(view.again(sql), 4)


@pytest.mark.full
@pytest.mark.parametrize(
    "sql", [ROWS, PAIRS, GROUPS, BAG, FLOATS], ids=["rows", "pairs", "groups", "bag", "floats"]
)
def test_two_threads_for_long(view: View, sql: str) -> None:
    race(view.again(sql), 40)


# -- killed ----------------------------------------------------------------------------------------

CHILD = """
import json, os, sys
from dbt.adapters.sparkivm.session import root_session
from tests.functional.test_faults import Once, View
job = json.loads(sys.argv[1])
spark = root_session(job["parameters"])
spark.sql(f"CREATE SCHEMA {job['schema']}")
for table, location in job["tables"].items():
    spark.sql(f"CREATE TABLE {job['schema']}.{table} USING delta LOCATION '{location}'")
view = View(spark, job["schema"], job["sql"])
view.do(job["facade"])
view.refresh(before=Once("commit", lambda: print("COMMIT", os.getpid(), flush=True)))
print("THROUGH", flush=True)
"""


def killed(view: View, folder: Path, parameters: dict[str, str], after: float) -> bool:
    """Another process commits and is killed `after` seconds; True if it was in the middle."""
    import json
    import time

    def location(table: str) -> str:
        row = view.spark.sql(f"DESCRIBE DETAIL {view.schema}.{table}").first()
        assert row is not None
        return str(row["location"])

    facade = view.spark.sql(f"SHOW CREATE TABLE {view.schema}.v").first()
    assert facade is not None
    job = {
        "parameters": {**parameters, "spark.sql.warehouse.dir": str(folder / "warehouse")},
        "schema": view.schema,
        "sql": view.sql,
        "tables": {t: location(t) for t in ("numbers", "v__ivm")},
        "facade": facade[0],
    }
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(job)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("COMMIT"):
                break
        else:
            pytest.fail("the other process never came to its commit")
        time.sleep(after)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    return "THROUGH" not in rest


@pytest.mark.parametrize(
    "after", [1.0, *(pytest.param(s, marks=pytest.mark.full) for s in (0.2, 0.5, 2.0, 3.0))]
)
@pytest.mark.parametrize(
    "touched", [pytest.param("id % 2 = 0", id="replace"), pytest.param("id % 20 > 0", id="merge")]
)
def test_killed_in_the_middle_of_the_commit(
    view: View, tmp_path: Path, session_parameters: dict[str, str], after: float, touched: str
) -> None:
    """More than 25,000 rows take a MERGE."""
    view.do("INSERT INTO {s}.numbers SELECT id + 10000, id, 'k' FROM range(30000)")
    view.refresh()
    view.do("UPDATE {s}.numbers SET x = x + 1, y = 'z' WHERE " + touched)
    old, new = view.shown(), view.expected()
    killed(view, tmp_path, session_parameters, after)
    assert view.shown() in (old, new)
    view.refresh()
    view.assert_exact()


# -- through dbt -----------------------------------------------------------------------------------


class TestThroughDbt:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sums.sql": model("select y, sum(x) as x from t(numbers) group by y"),
            "raw.yml": sources({"numbers": "id"}),
        }

    def test_a_run_that_dies_around_its_commit(
        self, project: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        warehouse = Warehouse.of(project)
        warehouse.sql(
            f"CREATE TABLE numbers USING delta {FEED} AS SELECT 1 AS id, 1 AS x, 'a' AS y",
        )
        warehouse.run()
        run = Executor._run
        for when in ("before", "after"):
            warehouse.sql("INSERT INTO numbers SELECT max(id) + 1, 5, 'a' FROM numbers")
            old = warehouse.rows("SELECT * FROM sums")

            def dies(self: Any, purpose: str, sql: str, fetch: bool, when: str = when) -> Any:
                commits = purpose.startswith("commit")
                if commits and when == "before":
                    raise RuntimeError("gone")
                rows = run(self, purpose, sql, fetch)
                if commits:
                    raise RuntimeError("gone")
                return rows

            with monkeypatch.context() as patch:
                patch.setattr(Executor, "_run", dies)
                assert "gone" in warehouse.fail("sums")["sums"]
            if when == "before":
                assert warehouse.rows("SELECT * FROM sums") == old
            else:
                warehouse.assert_exact("sums")
            answer = warehouse.run("sums")["sums"]
            assert answer["strategy"] == ("incremental" if when == "before" else "nothing to do")
            warehouse.assert_exact("sums")


class TestTwoProcesses:
    """Two `dbt run`s over one Connect server."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, connect_server: Any) -> dict[str, Any]:
        return connect_server.profile("connect")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sums.sql": model("select y, count(*) as n, sum(x) as x from t(numbers) group by y"),
            "bag.sql": model("select x, y from t(numbers)"),
            "raw.yml": sources({"numbers": None}),
        }

    @pytest.mark.parametrize("rounds", [2, pytest.param(15, marks=pytest.mark.full)])
    def test_in_a_loop(self, project: Any, rounds: int) -> None:
        def sql(text: str) -> list[tuple[Any, ...]]:
            found = project.run_sql(text, fetch="all")
            return [tuple(row) for row in found or ()]

        sql(f"CREATE TABLE IF NOT EXISTS {{schema}}.numbers (x INT, y STRING) USING delta {FEED}")
        run_dbt(["run"])
        for n in range(rounds):
            sql(f"INSERT INTO {{schema}}.numbers VALUES ({n}, 'a'), ({n}, 'y{n}'), (1, 'a')")
            if n % 2:
                sql(f"DELETE FROM {{schema}}.numbers WHERE x = {n - 1}")
            command = [str(Path(sys.executable).with_name("dbt")), "run", "--no-partial-parse"]
            processes = [
                subprocess.Popen(
                    [*command, "--target-path", f"target_{i}", "--log-path", f"log_{i}"],
                    cwd=project.project_root,
                    env={**os.environ, "DBT_PROFILES_DIR": str(project.profiles_dir)},
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for i in range(2)
            ]
            for process in processes:
                printed, _ = process.communicate(timeout=300)
                assert process.returncode == 0 or "got in the way" in printed, printed
        run_dbt(["run"])
        for name, query in (
            ("sums", "select y, count(*) as n, sum(x) as x from {schema}.numbers group by y"),
            ("bag", "select x, y from {schema}.numbers"),
        ):
            assert Counter(sql(f"SELECT * FROM {{schema}}.{name}")) == Counter(sql(query))
            control = f"SELECT 1 FROM {{schema}}.{name}__ivm WHERE __ivm_ctl IS NOT NULL"
            assert len(sql(control)) == 1
