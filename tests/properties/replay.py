"""Run one case again: `python -m tests.properties.replay <word> [duckdb|spark]`."""

from __future__ import annotations

import sys

from tests.properties.case import Case
from tests.properties.duckdb_engine import DuckDb
from tests.properties.engine import run


def main(word: str, engine: str = "duckdb") -> None:
    case = Case.from_word(word)
    print(case)
    if engine == "spark":
        from tests.properties.spark_engine import Spark

        print(run(case, Spark.local()))
    else:
        print(run(case, DuckDb()))


if __name__ == "__main__":
    main(*sys.argv[1:])
