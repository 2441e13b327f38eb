"""`make bench-star`: the product against a rebuild and against dbt-spark's own incremental merge.

Both sides run through `dbt run` in one warm process, on the same changes; every round is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

TABLES = {
    "wide": {
        "product": "wide",
        "table": "wide_table",
        "merge": "wide_merge",
        "merge_dv": "wide_merge_dv",
    },
    "aggregate": {"product": "aggregate", "table": "aggregate_table"},
}


@dataclass
class Results:
    path: Path
    rows: int
    cases: dict[tuple[str, int, str, str], dict[str, Any]] = field(default_factory=dict)

    def add(
        self,
        view: str,
        change: str,
        system: str,
        seconds: float,
        rows: int | None = None,
        **more: Any,
    ) -> None:
        key = (view, rows or self.rows, change, system)
        case = self.cases.setdefault(
            key, {"view": view, "rows": key[1], "change": change, "system": system, "all": []}
        )
        case["all"].append(round(seconds, 3))
        case["seconds"] = round(statistics.median(case["all"]), 3)
        case.update(more)
        print(
            f"  {view:9} {key[1]:>9} {change:16} {system:8} {seconds:8.2f} s  {more or ''}",
            flush=True,
        )
        self.write()

    def seconds(self, view: str, change: str, system: str, rows: int | None = None) -> float | None:
        case = self.cases.get((view, rows or self.rows, change, system))
        return case["seconds"] if case else None

    def write(self) -> None:
        from importlib.metadata import version

        value = {
            "versions": {
                p: version(p)
                for p in ("pyspark", "delta-spark", "dbt-core", "dbt-spark", "sqlglot")
            }
            | {"python": platform.python_version()},
            "settings": {"cores": os.cpu_count(), "driver": "8g", "rows": self.rows},
            "cases": list(self.cases.values()),
        }
        self.path.write_text(json.dumps(value, indent=1) + "\n")


class Bench:
    def __init__(self, rows: int, results: Results) -> None:
        from data import Star
        from dbt.cli.main import dbtRunner

        self.dbt, self.results, self.rows = dbtRunner(), results, rows
        self.invoke("debug", check=False)
        from dbt.adapters.sparkivm.session import root_session

        self.spark = root_session({}).newSession()
        self.star = Star(self.spark, rows)
        self.merged = {"merge": 0, "merge_dv": 0}

    def invoke(self, *arguments: str, check: bool = True) -> Any:
        folder = ["--project-dir", str(HERE / "star"), "--profiles-dir", str(HERE / "star")]
        result = self.dbt.invoke([*arguments, *folder, "--quiet"])
        if check and not result.success:
            raise SystemExit(f"dbt {' '.join(arguments)} failed: {result.exception}")
        return result

    def run(self, view: str, system: str, *flags: str) -> tuple[float, str]:
        """Seconds of the model itself, and what it said."""
        model = TABLES[view][system]
        variables: dict[str, int] = {}
        if system in self.merged:
            until = self.star.version()
            variables = {"since": self.merged[system] + 1, "until": until}
            self.merged[system] = until
        result = self.invoke("run", "-s", model, "--vars", json.dumps(variables), *flags)
        node = result.result[0]
        return node.execution_time, str(node.adapter_response.get("_message", ""))

    def measure(self, view: str, change: str, systems: list[str]) -> None:
        for system in systems:
            seconds, message = self.run(view, system)
            extra = {"said": message} if system == "product" else {}
            self.results.add(view, change, system, seconds, self.rows, **extra)

    def agree(self, view: str, systems: list[str]) -> None:
        names = [f"bench.{TABLES[view][s]}" for s in systems]
        fingerprint = "SELECT count(*) n, sum(CAST(xxhash64(*) AS DECIMAL(38,0))) h FROM {}"
        found = {n: tuple(self.spark.sql(fingerprint.format(n)).collect()[0]) for n in names}
        if len(set(found.values())) != 1:
            raise SystemExit(f"the systems disagree: {found}")

    def bytes_of(self, table: str) -> int:
        detail = self.spark.sql(f"DESCRIBE DETAIL bench.{table}").collect()[0]
        return int(detail["sizeInBytes"])

    def timed(self, sql: str) -> float:
        start = time.perf_counter()
        self.spark.sql(sql).write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start


READS = {
    "read_full": "SELECT * FROM bench.{}",
    "read_filtered": "SELECT * FROM bench.{} WHERE year = 2022 AND category = 'category 7'",
}


def read(bench: Bench, suffix: str = "") -> None:
    for change, sql in READS.items():
        for system in ("product", "table"):
            bench.timed(sql.format(TABLES["wide"][system]))
            for _ in range(3):
                seconds = bench.timed(sql.format(TABLES["wide"][system]))
                bench.results.add("wide", change + suffix, system, seconds)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--merge-runs", type=int, default=3)
    parser.add_argument("--series", type=int, default=50)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "star.json")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="star-"))
    os.environ["STAR_SCRATCH"] = str(scratch)
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    os.chdir(scratch)
    results = Results(options.out, options.rows)
    try:
        _bench(options, results)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    from report import report

    return report(options.out)


def _step(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def _bench(options: argparse.Namespace, results: Results) -> None:
    runs = options.runs
    _step("warm up on 100,000 rows")
    warm = Bench(100_000, Results(Path(os.devnull), 100_000))
    warm.star.create()
    for view in TABLES:
        for system in ("product", "table"):
            warm.run(view, system)
    warm.star.change("scattered", 0.01, 1)
    for view in TABLES:
        warm.measure(view, "warm", ["product", "table"])
    small = options.rows // 10
    _step(f"{small} rows: the same absolute change on a tenth of the facts")
    _series(Bench(small, results), "recent_0.05", "recent", 0.005, runs, ["product"])
    bench = Bench(options.rows, results)
    _step(f"{options.rows} rows: generate, build")
    bench.star.create()
    for _ in range(runs):
        for view, systems in TABLES.items():
            for system in ("product", "table"):
                seconds, message = bench.run(view, system, "--full-refresh")
                table = systems[system] + ("__ivm" if system == "product" else "")
                size = bench.bytes_of(table)
                results.add(view, "build", system, seconds, bytes=size)
    for _ in range(runs):
        bench.measure("wide", "none", ["product"])
        bench.measure("aggregate", "none", ["product"])
    for system in ("merge", "merge_dv") if options.merge_runs else ():
        bench.merged[system] = bench.star.version()
        results.add("wide", "build", system, bench.run("wide", system)[0])
    read(bench)
    for change, kind, share in (
        ("scattered_0.05", "scattered", 0.0005),
        ("recent_0.05", "recent", 0.0005),
    ):
        for n in range(runs):
            _step(f"{change}, round {n + 1}")
            bench.star.change(kind, share, 100 + n)
            merges = ["merge_dv", "merge"] if n < options.merge_runs else []
            bench.measure("wide", change, ["product", "table", *merges])
            bench.measure("aggregate", change, ["product", "table"])
            bench.agree("wide", ["product", "table", *merges])
            bench.agree("aggregate", ["product", "table"])
    for n in range(runs):
        _step(f"dimension_update, round {n + 1}")
        bench.star.update_dimension(200 + n)
        for view in TABLES:
            bench.measure(view, "dimension_update", ["product", "table"])
            bench.agree(view, ["product", "table"])
    _step(f"{options.series} refreshes in a row")
    for n in range(1, options.series + 1):
        bench.star.change("recent", 0.0005, 400 + n)
        seconds, message = bench.run("wide", "product")
        if 4 <= n <= 6:
            results.add("wide", "refresh_5", "product", seconds, said=message)
        elif options.series - 2 <= n <= options.series:
            results.add("wide", "refresh_50", "product", seconds, said=message)
    bench.run("wide", "table")
    bench.agree("wide", ["product", "table"])
    read(bench, "_after_50")
    for change, kind, share in (("recent_1", "recent", 0.01), ("scattered_1", "scattered", 0.01)):
        for n in range(runs):
            _step(f"{change}, round {n + 1}")
            bench.star.change(kind, share, 300 + n)
            bench.measure("wide", change, ["product", "table"])
            bench.measure("aggregate", change, ["product", "table"])
            bench.agree("wide", ["product", "table"])
            bench.agree("aggregate", ["product", "table"])


def _series(
    bench: Bench, change: str, kind: str, share: float, runs: int, systems: list[str]
) -> None:
    bench.star.create()
    for system in systems:
        bench.run("wide", system, "--full-refresh")
    for n in range(runs):
        bench.star.change(kind, share, 50 + n)
        bench.measure("wide", change, systems)


if __name__ == "__main__":
    raise SystemExit(main())
