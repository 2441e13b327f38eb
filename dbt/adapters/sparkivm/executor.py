"""Runs statements on the thread's connection; keeps what was run, for `target/run` and the log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Run = Callable[[str, bool], list[dict[str, Any]]]


@dataclass
class Statement:
    purpose: str
    sql: str
    seconds: float = 0.0
    error: str = ""


@dataclass
class Executor:
    run: Run
    statements: list[Statement] = field(default_factory=list)

    def read(self, purpose: str, sql: str) -> list[dict[str, Any]]:
        return self._run(purpose, sql, fetch=True)

    def write(self, purpose: str, sql: str) -> dict[str, Any]:
        rows = self._run(purpose, sql, fetch=True)
        return rows[0] if rows else {}

    def _run(self, purpose: str, sql: str, fetch: bool) -> list[dict[str, Any]]:
        statement = Statement(purpose, sql)
        self.statements.append(statement)
        start = time.perf_counter()
        try:
            return self.run(sql, fetch)
        except Exception as error:
            statement.error = str(error)
            raise
        finally:
            statement.seconds = time.perf_counter() - start

    def transcript(self) -> str:
        return "\n\n".join(
            f"-- {i}. {s.purpose} ({s.seconds:.2f} s){' FAILED' if s.error else ''}\n{s.sql};"
            for i, s in enumerate(self.statements, 1)
        )
