"""A model's SQL and a catalog of keys to a maintenance plan.

>>> [name for name, _ in PASSES]
['lower', 'infer_ids', 'minimize', 'storage', 'fk_graph', 'diff_schemas']
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ivm.apply.choice import Form
from ivm.apply.choice import commit as commit_form
from ivm.apply.measure import Measures, measure
from ivm.apply.merge import Move
from ivm.apply.stage import stage_delta, stage_recomputed
from ivm.catalog import Catalog, Table
from ivm.dialect import to_sql
from ivm.diff_schemas import DiffSchema, diff_schemas
from ivm.errors import IvmError
from ivm.fk_graph import FkGraph, fk_graph
from ivm.infer_ids import infer_ids
from ivm.lower import Lowered, lower
from ivm.minimize import minimize
from ivm.operators import Aggregate, Scan
from ivm.propagate import Pinned, used_columns
from ivm.sql import text
from ivm.storage import Storage, storage_of
from ivm.typing import plain
from ivm.verify import verify

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """Choices of the user that change the plan."""

    float_sums: str = "recompute"


@dataclass(frozen=True)
class CompiledView:
    """Everything that can be known about a view before it is known what changed."""

    sql: str
    lowered: Lowered
    storage: Storage
    graph: FkGraph
    schemas: tuple[DiffSchema, ...]
    options: Options = field(default_factory=Options)

    @property
    def tables(self) -> tuple[Table, ...]:
        found = {s.table.name: s.table for s in self.storage.core.walk() if isinstance(s, Scan)}
        return tuple(found.values())

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Per base table, the columns over which its changes are netted."""
        return used_columns(self.storage.core)

    def build(self, control: str) -> exp.Query:
        """All stored rows from the pinned states, and the control row."""
        states = Pinned(frozenset())
        core = self.storage.core
        rows = core.summed(states) if isinstance(core, Aggregate) else core.state(states, "post")
        return self.storage.with_control(self.storage.contents(rows), text(control))

    def facade(self) -> exp.Select:
        return self.storage.facade()

    def stage(
        self, changed: frozenset[str], large: frozenset[str] = frozenset()
    ) -> exp.Query | None:
        states = Pinned(changed, large)
        return stage_delta(self.storage, states, float_sums=self.options.float_sums)

    def recompute(self, form: Form) -> exp.Query:
        return stage_recomputed(self.storage, Pinned(frozenset()), every=form.recompute == "all")

    def measure(self) -> exp.Query:
        return measure(self.storage)

    def commit(self, form: Form, measures: Measures, move: Move) -> exp.Expr:
        return commit_form(form, self.storage, measures, move)


@dataclass
class Compilation:
    """What the passes hand on to each other."""

    sql: str
    catalog: Catalog
    namespace: str | None
    options: Options
    shown: tuple[tuple[str, str], ...] = ()
    lowered: Lowered | None = None
    storage: Storage | None = None
    graph: FkGraph | None = None
    schemas: tuple[DiffSchema, ...] = ()

    @property
    def core(self) -> Storage:
        assert self.storage is not None
        return self.storage

    @property
    def plan(self) -> Lowered:
        assert self.lowered is not None
        return self.lowered


def _lower(c: Compilation) -> None:
    c.lowered = lower(c.sql, c.catalog, c.namespace)
    c.shown = c.catalog.describe(c.sql)
    _agree(c.sql, c.lowered, c.shown)


def _infer_ids(c: Compilation) -> None:
    visible = [column for _, column in c.plan.outputs]
    c.lowered = replace(c.plan, plan=infer_ids(c.plan.plan, visible))


def _minimize(c: Compilation) -> None:
    c.lowered = replace(c.plan, plan=minimize(c.plan.plan))


def _storage(c: Compilation) -> None:
    def describe(query: exp.Query) -> tuple[tuple[str, str], ...]:
        return c.catalog.describe(to_sql(plain(query)))

    c.storage = storage_of(c.plan, c.shown, describe)


def _fk_graph(c: Compilation) -> None:
    c.graph = fk_graph(c.core.core)


def _diff_schemas(c: Compilation) -> None:
    c.schemas = diff_schemas(c.core.core)


PASSES: tuple[tuple[str, Callable[[Compilation], None]], ...] = (
    ("lower", _lower),
    ("infer_ids", _infer_ids),
    ("minimize", _minimize),
    ("storage", _storage),
    ("fk_graph", _fk_graph),
    ("diff_schemas", _diff_schemas),
)


def compile_view(
    sql: str, catalog: Catalog, *, namespace: str | None = None, options: Options | None = None
) -> CompiledView:
    """Run the passes in order; raises `Unsupported` with every reason, or `IvmError`."""
    state = Compilation(sql, catalog, namespace, options or Options())
    for name, step in PASSES:
        start = time.perf_counter()
        step(state)
        verify(name, state.plan.plan if state.lowered else None)
        log.debug("pass %s took %.1f ms", name, 1000 * (time.perf_counter() - start))
    assert state.graph is not None
    return CompiledView(sql, state.plan, state.core, state.graph, state.schemas, state.options)


def _agree(sql: str, lowered: Lowered, shown: tuple[tuple[str, str], ...]) -> None:
    """Our reading of the SELECT list against Spark's: a difference is a bug, never a guess."""
    ours = [name for name, _ in lowered.outputs]
    theirs = [name for name, _ in shown]
    named = [n for n in ours if n.isidentifier()]
    if len(ours) != len(theirs) or any(
        a.isidentifier() and a in named and a.lower() != b.lower()
        for a, b in zip(ours, theirs, strict=True)
    ):
        raise IvmError(
            "the columns of the SELECT were resolved differently from Spark",
            detail=f"ours: {', '.join(ours)}; Spark's: {', '.join(theirs)}",
            hint="give every column of the SELECT list an alias",
        )
    if len({n.lower() for n in theirs}) != len(theirs):
        twice = sorted({n for n in theirs if [t.lower() for t in theirs].count(n.lower()) > 1})
        raise IvmError(
            f"the SELECT has two columns of the same name: {', '.join(twice)}",
            hint="give each an alias of its own",
        )
