"""One `dbt run` of one model: read the state, pin the sources, decide, stage, commit, report."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.sparkivm.catalog import WarehouseCatalog, types_of, without_feed
from dbt.adapters.sparkivm.changes import (
    FEEDLESS,
    UNREADABLE,
    Change,
    History,
    Pin,
    classify,
    read_history,
)
from dbt.adapters.sparkivm.config import IvmConfig
from dbt.adapters.sparkivm.executor import Executor
from dbt.adapters.sparkivm.key_check import violations
from dbt.adapters.sparkivm.keys import Keys
from dbt.adapters.sparkivm.messages import shorten
from dbt.adapters.sparkivm.rebuild import drop_others, ensure_facade, rebuild
from dbt.adapters.sparkivm.report import Outcome
from dbt.adapters.sparkivm.state import Control, definition_of, inputs_of
from dbt.adapters.sparkivm.target import Docs, Target
from sqlglot import exp

from ivm import names
from ivm.apply.choice import Form, after, choose
from ivm.apply.measure import Measures, read_measures
from ivm.apply.merge import Move, move_only
from ivm.compiler import CompiledView, Options, compile_view
from ivm.dialect import to_sql
from ivm.errors import IvmError, Unsupported
from ivm.policy.immediate import Facts, predict
from ivm.render import (
    Binding,
    drop_stage,
    stage_table,
    statement,
)
from ivm.render.binding import changes_of
from ivm.render.delta_lake import Unchanged
from ivm.sql import column

ATTEMPTS = 3
LARGE_CHANGE = 1_000_000
ZONE = "spark.sql.session.timeZone"
# Somebody else committed first; a new plan starts from what they left.
CONFLICTS = (
    # Not the name alone: it stands in every text of a commit that an error may quote.
    f"[USER_RAISED_EXCEPTION] {names.STALE}",
    f"[USER_RAISED_EXCEPTION] {names.NO_CONTROL_ROW}",
    "DELTA_CONCURRENT",
    "ConcurrentAppendException",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
    "TABLE_OR_VIEW_ALREADY_EXISTS",
)
GONE = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "EXPECT_TABLE_NOT_VIEW", "DELTA_")


class Rebuild(Exception):
    """Incremental maintenance ends here for a reason that the run reports."""


@dataclass
class Refresh:
    model: str
    sql: str
    target: Target
    config: IvmConfig
    executor: Executor
    keys: Keys
    settings: Mapping[str, str]
    explicit: frozenset[str]
    full_refresh: bool = False
    may_rebuild: bool = True
    stacked_on: bool = False
    drop_table: Callable[[], None] = lambda: None
    docs: Docs = field(default_factory=lambda: Docs())
    outcome: Outcome = field(default_factory=Outcome)

    def __post_init__(self) -> None:
        self.inputs = inputs_of(self.sql, self.settings, self.config.as_dict())
        self.catalog = WarehouseCatalog(
            lambda sql: self.executor.read("look", sql), self.keys, self.settings, self.explicit
        )
        self.feedless: set[str] = set()
        self.reshaped: set[str] = set()
        self.reading: set[str] = set()

    # -- the whole ----------------------------------------------------------------------------

    def run(self) -> Outcome:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once()
            except Exception as error:
                conflict = any(c in str(error) for c in CONFLICTS)
                if not conflict:
                    raise
                if attempt == ATTEMPTS:
                    raise IvmError(
                        f"model {self.model}: another refresh of it got in the way "
                        f"{ATTEMPTS} times",
                        detail=str(error).splitlines()[0],
                        hint="nothing was applied by this run; run it again",
                    ) from error
        raise AssertionError("unreachable")

    def _once(self) -> Outcome:
        self.outcome = Outcome()
        slot, control, why = self._state()
        if control is None or slot is None:
            return rebuild(self, why)
        try:
            return self._refresh(slot, control)
        except Rebuild as reason:
            return rebuild(self, str(reason), same=slot, control=control)

    def _refresh(self, slot: str, control: Control) -> Outcome:
        if self.full_refresh:
            raise Rebuild("--full-refresh")
        if control.inputs != self.inputs:
            raise Rebuild("the model's SQL, its configuration or the session's settings changed")
        if control.rebuilt_for:
            raise Rebuild(control.rebuilt_for)
        if self.config.refresh == "full":
            raise Rebuild("refresh: full")
        changes = self._pin(control)
        data = [c for c in changes if c.kind == "data"]
        self.outcome.sources, self.outcome.sources_changed = len(changes), len(data)
        view = self._compile(control, changes)
        if all(c.kind == "none" for c in changes):
            self.outcome.strategy, self.outcome.reason = "nothing to do", "no source changed"
        else:
            self._apply(slot, control, view, changes)
        ensure_facade(self, slot, view)
        drop_others(self, slot)
        return self.outcome

    # -- state --------------------------------------------------------------------------------

    def _state(self) -> tuple[str | None, Control | None, str]:
        """The storage that stands for this model, its control row, or why there is none."""
        existing = [s for s in self.target.slots if s in self.target.storages]
        # Two exist only after a crash between building a new definition and dropping the old.
        existing.sort(key=lambda s: not self.target.shows(s))
        found: list[tuple[str, Control]] = []
        why = "first build"
        for slot in existing:
            control, problem = self._control(slot)
            if control is None:
                why = problem
            elif control.inputs == self.inputs:
                return slot, control, ""
            else:
                found.append((slot, control))
        return (*found[0], "") if found else (None, None, why)

    def _control(self, slot: str) -> tuple[Control | None, str]:
        table = to_sql(self.target.storage(slot))
        name = to_sql(column(names.CONTROL))
        try:
            rows = self.executor.read(
                "state", f"SELECT {name} FROM {table} WHERE {name} IS NOT NULL"
            )
        except Exception as error:
            text = str(error)
            if "TABLE_OR_VIEW_NOT_FOUND" in text:
                return None, "its storage was dropped"
            if "UNRESOLVED_COLUMN" in text:
                return None, f"{slot} is not a storage of this plugin"
            raise
        if len(rows) != 1:
            return None, f"its storage has {len(rows)} control rows instead of one"
        control = Control.read(str(next(iter(rows[0].values()))))
        return control, "its storage was written by another version of the plugin"

    # -- sources ------------------------------------------------------------------------------

    def history(self, name: str, limit: int | None = None) -> History:
        zone = self.settings.get(ZONE, "UTC")

        def read(sql: str) -> list[dict[str, Any]]:
            return self.executor.read(f"version of {name}", sql)

        return read_history(read, name, zone, *([limit] if limit else []))

    def _pin(self, control: Control) -> list[Change]:
        changes = []
        for name, before in control.sources.items():
            try:
                history = self.history(name)
            except Exception as error:
                if not any(e in str(error) for e in GONE):
                    raise
                raise Rebuild(f"source {name} cannot be read as before: {_first(error)}") from error
            change = classify(history, before, lambda n, name=name: self.history(name, n))
            if change.kind == "recreated":
                raise Rebuild(
                    f"source {name} was dropped and created again, or restored from a copy"
                )
            if change.kind == "gap":
                raise Rebuild(
                    f"the log of source {name} no longer reaches back to the last refresh"
                )
            changes.append(change)
        return changes

    def _compile(self, control: Control, changes: list[Change]) -> CompiledView:
        """From the remembered answers, as long as nothing that they describe has changed."""
        self.catalog.remember(control.answers)
        self.feedless, self.reshaped = set(), set()
        stale = False
        for name, facts in control.answers["relations"].items():
            changed = any(c.name == name and c.kind != "none" for c in changes)
            if facts["kind"] != "view" and not changed:
                continue
            now = self.catalog.look_at(name, facts["kind"])
            if not now.get("feed"):
                self.feedless.add(name)
            if without_feed(now) != without_feed(facts):
                self.reshaped.add(name)
                stale = True
            else:
                self.catalog.relations[name] = now
        if stale:
            self.catalog.remember({"relations": {}, "queries": {}})
        try:
            view = self.compiled()
        except Unsupported as error:
            raise Rebuild(f"not maintained: {error}") from error
        if definition_of(self.inputs, view) != control.definition:
            raise Rebuild("keys, columns or views that the model reads changed")
        if stale:
            self._check_types(view, control.answers["relations"])
        return view

    def _check_types(self, view: CompiledView, before: Mapping[str, Any]) -> None:
        """Old and new rows of a retyped column cannot be netted against each other."""
        for name, columns in view.columns.items():
            old, new = (types_of(r.get(name, {})) for r in (before, self.catalog.relations))
            for c in columns:
                if old.get(c.lower()) != new.get(c.lower()):
                    raise Rebuild(
                        f"column {c} of source {name} changed its type from "
                        f"{old.get(c.lower())} to {new.get(c.lower())}"
                    )

    def compiled(self) -> CompiledView:
        options = Options(float_sums=self.config.float_sums)
        return compile_view(self.sql, self.catalog, options=options)

    # -- incremental --------------------------------------------------------------------------

    def _apply(
        self, slot: str, control: Control, view: CompiledView, changes: list[Change]
    ) -> None:
        pins = {c.name: c.pin for c in changes}
        after_ = control.moved(pins, self.catalog.answers())
        move = Move(control.text, after_.text)
        storage = self.target.storage(slot)
        data = {c.name: c for c in changes if c.kind == "data"}
        if not data:
            self._move_only(storage, move, "source commits without data")
            return
        self._choose(control, data)
        unfed: set[str] = {n for n, c in data.items() if self._unfed(c)}
        staged: list[str] = []
        try:
            while True:
                try:
                    measures, binding = self._stage(view, changes, data, unfed, storage, staged)
                    break
                except Exception as error:
                    self._without_feed(error, unfed)
            if not measures.units:
                self._move_only(storage, move, "no change of a column that the view reads")
                return
            self._commit(view, measures, binding, move, staged, pins)
        finally:
            for name in staged:
                self.quietly("clean up", drop_stage(name))

    def _choose(self, control: Control, data: Mapping[str, Change]) -> None:
        # A star's rows are about as wide as its facts.
        known = self.target.bytes
        facts = Facts(
            control.sizes,
            max(control.sizes.values(), default=0) if known is None else known,
            {n: c.rows for n, c in data.items()},
            frozenset(n for n, c in data.items() if self._unfed(c)),
        )
        prediction = predict(facts)
        self.outcome.prediction = str(prediction)
        if self.config.refresh == "auto" and prediction.prefers_rebuild:
            raise Rebuild(f"cheaper: {prediction}")

    def _unfed(self, change: Change) -> bool:
        """Does the feed not tell this change, or not in the columns of today?"""
        reshaped = change.overwritten and change.name in self.reshaped
        return change.replaced or reshaped or change.name in self.feedless

    def _without_feed(self, error: Exception, unfed: set[str]) -> None:
        """After an error of the staging: without the feed, or not at all."""
        text = str(error)
        if any(e in text for e in FEEDLESS) and self.reading - unfed:
            unfed.update(self.reading)
            return
        if any(e in text for e in (*FEEDLESS, *UNREADABLE)):
            names_ = ", ".join(sorted(self.reading))
            raise Rebuild(
                f"the changes of {names_} are no longer readable: {_first(error)}"
            ) from error
        raise error

    def _stage(
        self,
        view: CompiledView,
        changes: list[Change],
        data: Mapping[str, Change],
        unfed: set[str],
        storage: exp.Table,
        staged: list[str],
    ) -> tuple[Measures, Binding]:
        columns = view.columns
        sources: dict[str, Unchanged] = {
            c.name: c.source(
                columns.get(c.name, ()),
                types_of(self.catalog.relations.get(c.name, {})),
                feed=c.name not in unfed,
            )
            for c in changes
        }
        changed = frozenset(n for n in data if n in columns)
        large = frozenset(n for n, c in data.items() if (c.rows or 0) > LARGE_CHANGE)
        held: dict[str, str] = {}
        if len(changed) > 1:
            # Each is read by several legs; alone, it is read by one or two.
            for name in sorted(changed):
                self.reading = {name}
                held[changes_of(name)] = self._hold(
                    f"changes of {name}", sources[name].changes(), Binding(storage), staged
                )
        binding = Binding(storage, sources, held)
        self.reading = set(data)
        delta = view.stage(changed, large)
        assert delta is not None
        held["delta"] = self._hold("delta of the view", delta, binding, staged)
        row = self.executor.read("measure the delta", statement(view.measure(), binding))[0]
        return read_measures(view.storage, row), binding

    def _hold(self, purpose: str, query: exp.Query, binding: Binding, staged: list[str]) -> str:
        name = f"{names.PREFIX}stage_{uuid.uuid4().hex[:12]}"
        staged.append(name)
        self.executor.write(f"stage the {purpose}", stage_table(name, query, binding))
        return name

    def _commit(
        self,
        view: CompiledView,
        measures: Measures,
        binding: Binding,
        move: Move,
        staged: list[str],
        pins: Mapping[str, Pin],
    ) -> None:
        form: Form | None = choose(view.storage, measures)
        while form is not None:
            if form.name == "counted_rows" and view.storage.kind == "rows":
                self._report_violations(view, pins)
            if form.recompute:
                held = self._hold("recomputed groups", view.recompute(form), binding, staged)
                binding = Binding(
                    binding.storage, binding.sources, {**binding.staged, "recomputed": held}
                )
            try:
                merge = statement(view.commit(form, measures, move), binding)
                row = self.executor.write(f"commit ({form.name})", merge)
                break
            except Exception as error:
                following = after(form, str(error))
                if following is None:
                    raise
                form = following
        self.outcome.strategy = "incremental"
        self.outcome.reason = f"{form.name}, {measures.units} touched" if form else ""
        if form is not None and form.name == "replaced_rows":
            self.outcome.rows_updated = measures.updated
            self.outcome.rows_inserted = measures.inserted - measures.updated
            self.outcome.rows_deleted = measures.deleted - measures.updated
        else:
            self.outcome.rows_inserted = _count(row, "num_inserted_rows")
            self.outcome.rows_deleted = _count(row, "num_deleted_rows")
            self.outcome.rows_updated = max(0, _count(row, "num_updated_rows") - 1)

    def _move_only(self, storage: exp.Table, move: Move, why: str) -> None:
        row = self.executor.write("move the versions", statement(move_only(move), Binding(storage)))
        if _count(row, "num_affected_rows") != 1:
            raise Rebuild("its storage has no control row any more")
        self.outcome.strategy, self.outcome.reason = "nothing to do", why

    # -- keys ---------------------------------------------------------------------------------

    def check_keys(self, view: CompiledView, pins: Mapping[str, Pin]) -> None:
        types = {name: types_of(facts) for name, facts in self.catalog.relations.items()}
        self.outcome.warnings += violations(self.executor, view.tables, types, pins)

    def _report_violations(self, view: CompiledView, pins: Mapping[str, Pin]) -> None:
        before = len(self.outcome.warnings)
        self.check_keys(view, pins)
        if len(self.outcome.warnings) == before:
            self.outcome.warnings.append("a declared key was violated before this refresh")

    def quietly(self, purpose: str, sql: str) -> None:
        try:
            self.executor.write(purpose, sql)
        except Exception as error:
            self.outcome.warnings.append(f"{purpose}: {_first(error)}")


def _first(error: BaseException) -> str:
    """One line: Spark's error class and message, without dbt's heading."""
    return (shorten(str(error)).splitlines() or [type(error).__name__])[0].strip()


def _count(row: Mapping[str, Any], name: str) -> int:
    return int(row.get(name) or 0)
