"""Every way in which a Delta table can change between two refreshes, and what is made of it.

All cases share one project: build every view, change every table, refresh, refresh once more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.sparkivm import changes
from dbt.tests.util import run_dbt, write_file

from tests.functional.warehouse import FEED, Warehouse, model, plain, sources, strategies

INCREMENTAL, REBUILT, NOTHING = "incremental", "full rebuild", "nothing to do"
ROWS = "SELECT * FROM VALUES (1, 10, 'a'), (2, 20, 'b'), (2, 20, 'b'), (3, NULL, 'c') v(id, x, y)"
DIFFED = "VERSION AS OF 0"
FED = "TABLE_CHANGES"


@dataclass(frozen=True)
class Case:
    """`@` stands for the table. Steps are statements or functions of lake and table."""

    steps: list[Any]
    strategy: str = INCREMENTAL
    reason: str = ""
    sql: str = "select id, x from @ where id < 100"
    properties: str = FEED
    create: str = "CREATE TABLE @ USING delta {properties} AS " + ROWS
    key: str | None = None
    shows: str = ""  # in the transcript of the refresh
    feed_is_tried: bool = False  # it is on now, but was not all the time: the attempt fails
    config: dict[str, str] = field(default_factory=dict)


def overwrite(*queries: str) -> Callable[[Warehouse, str], None]:
    def step(lake: Warehouse, table: str) -> None:
        for query in queries:
            frame = lake.spark.sql(query.replace("@", table))
            # Not from the table itself while it is overwritten.
            frame = lake.spark.createDataFrame(frame.collect(), frame.schema)
            writer = frame.write.format("delta").mode("overwrite").option("overwriteSchema", True)
            writer.saveAsTable(f"{lake.schema}.{table}")

    return step


def remove_old_files(lake: Warehouse, table: str) -> None:
    """What VACUUM does, a week later."""
    folder = lake.path(table)
    now = {Path(r[0]).name for r in lake.rows(f"SELECT DISTINCT _metadata.file_path FROM {table}")}
    for file in folder.rglob("*.parquet"):
        if file.name not in now and "_delta_log" not in file.parts:
            file.unlink()


def lose_a_commit(lake: Warehouse, table: str) -> None:
    folder = lake.path(table)
    java: Any = lake.spark._jvm
    log = java.org.apache.spark.sql.delta.DeltaLog.forTable(lake.spark._jsparkSession, str(folder))
    log.checkpoint()
    (folder / "_delta_log" / f"{1:020}.json").unlink()


def copied(lake: Warehouse, table: str) -> None:
    """As after a copy of the folder: all commits have one time."""
    for file in (lake.path(table) / "_delta_log").glob("*.json"):
        os.utime(file, (1.7e9, 1.7e9))


def a_moment(lake: Warehouse, table: str) -> None:
    time.sleep(1.5)


UPDATE = "UPDATE @ SET x = x + 1 WHERE id = 2"
SHORT_RETENTION = (
    "ALTER TABLE @ SET TBLPROPERTIES (delta.deletedFileRetentionDuration = 'interval 1 second')"
)
MAPPED = "TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name')"
# Delta refuses to fill a table with such properties while it creates it.
CREATE_MAPPED = (
    "CREATE TABLE @ (id INT, x INT, y INT) USING delta {properties}; "
    "INSERT INTO @ VALUES (1, 10, 11), (2, 20, 21), (2, 20, 21), (3, NULL, 31)"
)
REPLACE = f"CREATE OR REPLACE TABLE @ USING delta {FEED} AS "

RETENTION = "no longer readable: [DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION"
GONE = "no longer readable: [FAILED_READ_FILE"

CASES = {
    "fed": Case(
        [UPDATE, "DELETE FROM @ WHERE id = 1", "INSERT INTO @ VALUES (1, 11, 'n')"], shows=FED
    ),
    "unfed": Case([UPDATE, "DELETE FROM @ WHERE id = 1"], properties="", shows=DIFFED),
    "fed_late": Case(
        [
            UPDATE,
            "ALTER TABLE @ SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
            "INSERT INTO @ VALUES (7, 7, 'g')",
        ],
        properties="",
        shows=DIFFED,
        feed_is_tried=True,
    ),
    "replaced": Case(
        [REPLACE + f"{ROWS} WHERE id <> 1 UNION ALL SELECT 9, 9, 'z'"],
        shows=DIFFED,
    ),
    "replaced_by_the_same": Case([REPLACE + ROWS], NOTHING, "no change of a column"),
    "replaced_with_other_columns": Case(
        [REPLACE + "SELECT id, x + 1 AS x, 'q' AS z FROM VALUES (1, 9), (5, 5) v(id, x)"],
        shows=DIFFED,
    ),
    "replaced_with_other_types": Case(
        [REPLACE + "SELECT 1 AS id, 'many' AS x, 'q' AS y"], REBUILT, "changed"
    ),
    "counted_with_other_types": Case(
        [REPLACE + "SELECT 1 AS id, 'many' AS x, 'q' AS y"],
        REBUILT,
        "x of source",
        sql="select id, count(x) as n from @ group by id",
    ),
    "overwritten": Case(["INSERT OVERWRITE @ VALUES (1, 10, 'a'), (8, 80, 'h')"], shows=FED),
    "overwritten_twice_with_other_columns": Case(
        [overwrite("SELECT id, y AS z FROM @", "SELECT id, id + 5 AS x, z AS y FROM @")],
        shows=DIFFED,
    ),
    # The relation cache: the feed and the table in one statement.
    "self_joined": Case(
        [UPDATE, "INSERT INTO @ VALUES (4, 21, 'd'), (2, 21, 'e')", "DELETE FROM @ WHERE id = 1"],
        sql="select a.id, b.x, b.y from @ a join @ b on a.id <= b.id",
        shows=FED,
    ),
    "self_joined_groups": Case(
        [UPDATE, "INSERT INTO @ VALUES (4, 21, 'd')"],
        sql="select a.y, count(*) as n, sum(b.x) as x from @ a join @ b on a.id <= b.id "
        "group by a.y",
        shows=FED,
    ),
    "column_added": Case(
        [
            "ALTER TABLE @ ADD COLUMN (more STRING)",
            "INSERT INTO @ VALUES (6, 60, 'f', 'more')",
            UPDATE,
        ],
        shows=FED,
    ),
    "column_renamed": Case(
        ["ALTER TABLE @ RENAME COLUMN y TO z", UPDATE],
        properties=MAPPED,
        create=CREATE_MAPPED,
    ),
    "columns_swapped": Case(
        [
            "ALTER TABLE @ RENAME COLUMN y TO z",
            "ALTER TABLE @ RENAME COLUMN x TO y",
            "ALTER TABLE @ RENAME COLUMN z TO x",
        ],
        properties=MAPPED,
        create=CREATE_MAPPED,
    ),
    # The feed is empty over these two commits.
    "column_dropped_and_added": Case(
        ["ALTER TABLE @ DROP COLUMN x", "ALTER TABLE @ ADD COLUMN (x INT)"],
        properties=MAPPED,
        create=CREATE_MAPPED,
    ),
    "widened": Case(
        [
            "ALTER TABLE @ ALTER COLUMN x TYPE BIGINT",
            "INSERT INTO @ VALUES (5, 5000000000, 'e')",
        ],
        REBUILT,
        "changed",
        properties="TBLPROPERTIES (delta.enableChangeDataFeed = true, "
        "delta.enableTypeWidening = true)",
    ),
    "recreated": Case(
        [
            "DROP TABLE @",
            f"CREATE TABLE @ USING delta {FEED} AS SELECT 1 AS id, 99 AS x, 'new' AS y",
        ],
        REBUILT,
        "dropped and created again",
    ),
    "recreated_and_grown": Case(
        [
            "DROP TABLE @",
            f"CREATE TABLE @ USING delta {FEED} AS SELECT 1 AS id, 99 AS x, 'new' AS y",
            "INSERT INTO @ VALUES (2, 2, 'more')",
        ],
        REBUILT,
        "dropped and created again",
    ),
    "restored": Case(
        [UPDATE, "DELETE FROM @ WHERE id = 1", "RESTORE TABLE @ TO VERSION AS OF 1"],
    ),
    "restored_to_the_same": Case(
        [UPDATE, "RESTORE TABLE @ TO VERSION AS OF 0"], NOTHING, "no change"
    ),
    "beyond_retention": Case(
        [SHORT_RETENTION, a_moment, UPDATE], REBUILT, RETENTION, properties=""
    ),
    "fed_beyond_retention": Case([SHORT_RETENTION, a_moment, UPDATE], REBUILT, RETENTION),
    "files_gone": Case([UPDATE, remove_old_files], REBUILT, GONE, properties=""),
    "feed_gone": Case([UPDATE, remove_old_files], REBUILT, GONE),
    "commit_gone": Case(
        [UPDATE, "DELETE FROM @ WHERE id = 3", lose_a_commit], REBUILT, "log of source"
    ),
    # Rebuilt once; then the equal times of its commits must not make it look new again.
    "copied": Case([UPDATE, copied], REBUILT, "restored from a copy"),
    "updated_to_the_same": Case(["UPDATE @ SET x = x"], NOTHING, "no change of a column"),
    "deleted_and_inserted_again": Case(
        ["DELETE FROM @ WHERE id = 1", "INSERT INTO @ VALUES (1, 10, 'a')"],
        NOTHING,
        "no change of a column",
        key="id",
    ),
    "updated_elsewhere": Case(["UPDATE @ SET y = 'new'"], NOTHING, "no change of a column"),
    "without_data": Case(
        ["INSERT INTO @ VALUES (500, 5, '')", "OPTIMIZE @"], NOTHING, "no change of a column"
    ),
    "only_properties": Case(
        ["OPTIMIZE @", "ALTER TABLE @ SET TBLPROPERTIES (mine = 'x')"],
        NOTHING,
        "source commits without data",
        create="CREATE TABLE @ USING delta {properties} AS SELECT /*+ REPARTITION(3) */ * FROM "
        f"({ROWS})",
    ),
    "maps_of_a_key": Case(
        ["UPDATE @ SET m = map('b', 2) WHERE id = 1"],
        key="id",
        sql="select id, m['b'] as b from @",
        create="CREATE TABLE @ USING delta {properties} AS SELECT 1 AS id, map('a', 1) AS m",
    ),
    "maps_without_a_key": Case(
        ["UPDATE @ SET m = map('b', 2) WHERE id = 1"],
        REBUILT,
        "MAP",
        sql="select id, m['a'] as a, m['b'] as b from @",
        create="CREATE TABLE @ USING delta {properties} AS SELECT 1 AS id, map('a', 1) AS m",
    ),
    "parquet_table": Case(
        ["INSERT INTO @ VALUES (7, 7, 'g')"],
        REBUILT,
        "format parquet, not delta",
        create="CREATE TABLE @ USING parquet AS " + ROWS,
    ),
}


class TestCases:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        # Overridden by the adapter: with it, a removed file would be an empty one.
        parameters = dbt_profile_target["server_side_parameters"]
        parameters["spark.sql.files.ignoreMissingFiles"] = "true"
        return dbt_profile_target

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        found = {
            f"of_{name}.sql": model(case.sql.replace("@", f"t({name})"), **case.config)
            for name, case in CASES.items()
        }
        found["of_zoned.sql"] = model("select id, hour(at) as h from t(elsewhere)")
        found["strict.sql"] = model("select id from t(parquet_table)", on_unsupported="error")
        tables = {name: case.key for name, case in CASES.items()}
        found["raw.yml"] = sources({**tables, "elsewhere": None})
        return found

    @pytest.fixture(scope="class")
    def lake(self, project: Any) -> Warehouse:
        return Warehouse.of(project)

    @pytest.fixture(scope="class")
    def answers(self, lake: Warehouse) -> Iterator[list[dict[str, Any]]]:
        """Of the first refresh after the changes, and of one more."""
        for name, case in CASES.items():
            create = case.create.replace("{properties}", case.properties)
            lake.sql(*create.replace("@", name).split(";"))
        lake.sql(
            "CREATE TABLE times USING delta AS SELECT 1 AS id, TIMESTAMP'2026-01-01' AS at",
            "SET spark.sql.session.timeZone = Asia/Tokyo",
            "CREATE VIEW elsewhere AS SELECT id, at, date_trunc('day', at) AS day FROM times",
            "SET spark.sql.session.timeZone = UTC",
        )
        lake.run(args=("--exclude", "strict"))
        for name, case in CASES.items():
            for step in case.steps:
                if isinstance(step, str):
                    lake.sql(step.replace("@", name))
                else:
                    step(lake, name)
        limit = changes.read_history.__defaults__
        # So that more commits than are read at first are met.
        changes.read_history.__defaults__ = (2,)
        found = [lake.run(args=("--exclude", "strict"))]
        found[0]["transcripts"] = {n: lake.transcript(f"of_{n}") for n in CASES}
        changes.read_history.__defaults__ = limit
        found.append(lake.run(args=("--exclude", "strict")))
        yield found

    @pytest.mark.parametrize("name", CASES)
    def test_case(self, lake: Warehouse, answers: list[dict[str, Any]], name: str) -> None:
        case, answer = CASES[name], answers[0][f"of_{name}"]
        lake.assert_exact(f"of_{name}")
        assert answer["strategy"] == case.strategy, answer
        assert case.reason in answer["reason"]
        transcript = answers[0]["transcripts"][name]
        assert case.shows in transcript
        if case.shows == DIFFED:
            assert (FED in transcript) == case.feed_is_tried
        again = answers[1][f"of_{name}"]
        never = name in ("parquet_table", "maps_without_a_key")
        settled = (REBUILT, case.reason) if never else (NOTHING, "no source")
        assert again["strategy"] == settled[0] and settled[1] in again["reason"]
        assert len(lake.control_rows(f"of_{name}")) == 1

    def test_commits_without_data_move_the_version_once(
        self, lake: Warehouse, answers: list[dict[str, Any]]
    ) -> None:
        assert lake.version("of_only_properties__ivm") == 1
        # State, history twice (only two commits are read at first here), schema, one commit.
        assert answers[0]["of_only_properties"]["statements"] == 5

    def test_a_view_of_another_time_zone_is_not_inlined(
        self, lake: Warehouse, answers: list[dict[str, Any]]
    ) -> None:
        for found in answers:
            answer = found["of_zoned"]
            assert answer["strategy"] == REBUILT
            assert "spark.sql.session.timeZone=Asia/Tokyo" in answer["reason"]
        lake.assert_exact("of_zoned")

    def test_a_source_in_another_format_can_be_refused(
        self, lake: Warehouse, answers: list[dict[str, Any]]
    ) -> None:
        assert "format parquet, not delta" in lake.fail("strict")["strict"]
        assert not lake.storages("strict")


class TestRebuiltSources:
    """Seeds and table models are replaced as a whole by every run of dbt."""

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"countries.csv": "code,name\nde,Germany\nfr,France\n"}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "people.sql": plain("{{ config(materialized='table') }} select * from t(persons)"),
            "named.sql": model(
                "select p.id, c.name from m(people) p join m(countries) c on p.code = c.code"
            ),
            "per_country.sql": model("select code, count(*) as n from m(people) group by code"),
            "raw.yml": sources({"persons": "id"}),
        }

    def test_only_real_changes_reach_the_view(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        warehouse.sql(
            "CREATE TABLE persons USING delta AS "
            "SELECT * FROM VALUES (1, 'de'), (2, 'fr'), (3, 'xx') v(id, code)"
        )
        run_dbt(["seed"])
        warehouse.run()
        views = ("named", "per_country")
        storages = {n: warehouse.version(f"{n}__ivm") for n in views}
        run_dbt(["seed"])
        answers = warehouse.run()
        assert {n: strategies(answers)[n] for n in views} == dict.fromkeys(views, NOTHING)
        for n in views:
            assert "no change" in answers[n]["reason"]
            # One commit, to move the version.
            assert warehouse.version(f"{n}__ivm") == storages[n] + 1
        warehouse.assert_exact(*views)
        write_file(
            "code,name\nde,Germany\nfr,Republic\nxx,Nowhere\n",
            project.project_root,
            "seeds",
            "countries.csv",
        )
        warehouse.sql("INSERT INTO persons VALUES (4, 'fr')", "DELETE FROM persons WHERE id = 1")
        run_dbt(["seed"])
        answers = warehouse.run()
        assert {n: strategies(answers)[n] for n in views} == dict.fromkeys(views, INCREMENTAL)
        counts = answers["named"]
        assert (counts["rows_inserted"], counts["rows_deleted"]) == (3, 2)
        warehouse.assert_exact(*views)
