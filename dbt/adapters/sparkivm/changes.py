"""What happened to a Delta table since a version: pinned, and classified by its history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any, Literal
from zoneinfo import ZoneInfo

from dbt.adapters.sparkivm.catalog import table_of

from ivm.dialect import to_sql
from ivm.render.delta_lake import Diff, Feed, Unchanged

Read = Callable[[str], list[dict[str, Any]]]

HISTORY = 20
# These commit no rows. OPTIMIZE and REORG rewrite files, the rest touch metadata only.
WITHOUT_DATA = frozenset(
    {
        "OPTIMIZE",
        "REORG",
        "VACUUM START",
        "VACUUM END",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "FSCK",
        "COMPUTE STATS",
        "ANALYZE",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        "UPGRADE PROTOCOL",
        "ADD FEATURE",
        "DROP FEATURE",
        "CLUSTER BY",
        "CHANGE COLUMN",
        "ADD DELETION VECTORS TOMBSTONES",
    }
)
# What the feed tells exactly. After others (replaced, restored, columns renamed or dropped) a feed
# that starts at the commit reads old rows by the new columns, silently: two snapshots tell those.
FED = WITHOUT_DATA | {
    "WRITE",
    "MERGE",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "STREAMING UPDATE",
    "COPY INTO",
    "ADD COLUMNS",
}
# Errors after which the changes cannot be read any more; the view is rebuilt and says which.
UNREADABLE = (
    "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
    "DELTA_VERSION_NOT_FOUND",
    "DELTA_LOG_FILE_NOT_FOUND",
    "DELTA_FILE_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_CDC_START_VERSION_AFTER_LATEST",
    "FAILED_READ_FILE",
    "FILE_NOT_EXIST",
)
# The feed is missing or has another schema; the two snapshots may still tell.
FEEDLESS = (
    "DELTA_MISSING_CHANGE_DATA",
    "DELTA_CHANGE_TABLE_FEED_DISABLED",
    "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE",
)


@dataclass(frozen=True)
class Pin:
    """A version and the time of its commit: together they tell a table from its successor.

    Delta makes times increase: one that is not after its predecessor in the same answer is shown
    as a millisecond later. Where files have times of whole seconds that is common, and the time of
    a commit depends on which others were asked for. Then `mark` tells, what the commit did.
    """

    version: int
    timestamp: int
    raised: bool = False
    mark: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Pin:
        return cls(
            int(value["version"]),
            int(value["timestamp"]),
            bool(value.get("raised")),
            str(value.get("mark", "")),
        )

    def is_same(self, other: Pin) -> bool:
        if self.version != other.version:
            return False
        in_doubt = (self.raised or other.raised) and self.mark == other.mark
        return self.timestamp == other.timestamp or in_doubt


@dataclass(frozen=True)
class History:
    """The newest commits of a table, newest first."""

    name: str
    commits: tuple[Mapping[str, Any], ...]

    @property
    def pin(self) -> Pin:
        return self._pins(self.commits[:2])[0]

    @property
    def pins(self) -> dict[int, Pin]:
        return {pin.version: pin for pin in self._pins(self.commits)}

    def _pins(self, commits: Sequence[Mapping[str, Any]]) -> list[Pin]:
        times = [c["timestamp"] for c in commits]
        raised = [a == b + 1 for a, b in zip(times, times[1:], strict=False)] + [False]
        return [
            Pin(int(c["version"]), c["timestamp"], r, _mark(c))
            for c, r in zip(commits, raised, strict=True)
        ]

    def since(self, version: int) -> tuple[Mapping[str, Any], ...]:
        return tuple(c for c in self.commits if int(c["version"]) > version)


@dataclass(frozen=True)
class Change:
    """How one source moved from `before` to `pin`."""

    name: str
    kind: Literal["none", "no data", "data", "recreated", "gap"]
    pin: Pin
    before: Pin
    rows: int | None = None
    replaced: bool = False  # so that the feed does not tell it
    overwritten: bool = False  # by a commit that can bring other columns along

    def source(
        self, columns: tuple[str, ...], kinds: Mapping[str, str], *, feed: bool
    ) -> Unchanged:
        table = table_of(self.name)
        if self.kind != "data":
            return Unchanged(table, self.pin.version)
        kind = Feed if feed else Diff
        return kind(table, self.pin.version, self.before.version, columns, kinds)


def read_history(read: Read, name: str, zone: str, limit: int = HISTORY) -> History:
    rows = read(f"DESCRIBE HISTORY {to_sql(table_of(name))} LIMIT {int(limit)}")
    commits = tuple({**r, "timestamp": epoch(r["timestamp"], zone)} for r in rows)
    return History(name, commits)


def classify(history: History, before: Pin, read_more: Callable[[int], History]) -> Change:
    """The change since `before`, by history alone: no data is read."""
    name, pin = history.name, history.pin
    if pin.is_same(before):
        # As it was written down: a control row that says the same stays as it is.
        return Change(name, "none", before, before)
    if pin.version <= before.version:
        return Change(name, "recreated", pin, before)
    commits = _back_to(before.version, history, read_more)
    # Commits that arrived meanwhile are left for the next refresh.
    history = History(name, tuple(c for c in commits if int(c["version"]) <= pin.version))
    known = history.pins.get(before.version)
    if known is not None and not known.is_same(before):
        return Change(name, "recreated", pin, before)
    recent = history.since(before.version)
    # Delta reads the feed over a gap in its log without a word.
    if known is None or len(recent) != pin.version - before.version:
        return Change(name, "gap", pin, before)
    if all(_operation(c) in WITHOUT_DATA for c in recent):
        return Change(name, "no data", pin, before)
    overwritten = sum(_overwrites(c) for c in recent)
    replaced = overwritten > 1 or not all(_operation(c) in FED for c in recent)
    # A replaced table says how many rows it has, not how many differ: the diff will tell.
    rows = 0 if replaced else _rows(recent)
    return Change(name, "data", pin, before, rows, replaced, overwritten > 0)


def _back_to(
    version: int, history: History, read_more: Callable[[int], History]
) -> tuple[Mapping[str, Any], ...]:
    commits = history.commits
    while int(commits[-1]["version"]) > version:
        limit = int(commits[0]["version"]) - version + 1
        more = read_more(limit).commits
        if len(more) < limit:
            return more
        commits = more
    return commits


def _mark(commit: Mapping[str, Any]) -> str:
    """What a commit did, as far as its history tells."""
    did = [
        _operation(commit),
        sorted(_mapping(commit.get("operationParameters")).items()),
        sorted(_mapping(commit.get("operationMetrics")).items()),
    ]
    return hashlib.sha256(json.dumps(did).encode()).hexdigest()[:12]


def _operation(commit: Mapping[str, Any]) -> str:
    return str(commit.get("operation") or "").upper()


def _overwrites(commit: Mapping[str, Any]) -> bool:
    parameters = _mapping(commit.get("operationParameters"))
    whole = str(parameters.get("mode", "")).strip('"').lower() == "overwrite"
    return _operation(commit) == "WRITE" and whole and "predicate" not in parameters


def _rows(commits: tuple[Mapping[str, Any], ...]) -> int | None:
    """An upper estimate of changed rows, from the metrics of the commits."""
    total = 0
    for commit in commits:
        if _operation(commit) in WITHOUT_DATA:
            continue
        metrics = _mapping(commit.get("operationMetrics"))
        if _operation(commit) == "MERGE":
            counted = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
        elif _operation(commit) == "UPDATE":
            counted = ("numUpdatedRows",)
        elif _operation(commit) == "DELETE":
            counted = ("numDeletedRows",)
        else:
            counted = ("numOutputRows", "numDeletedRows")
        if not metrics:
            return None
        total += sum(int(metrics.get(name, 0)) for name in counted)
    return total


def _mapping(value: Any) -> dict[str, str]:
    """A map, or over Thrift its text."""
    if isinstance(value, str):
        value = json.loads(value or "{}")
    return dict(value or {})


def epoch(value: Any, zone: str) -> int:
    """Milliseconds; a naive datetime is local time of this process, a text that of the session.

    >>> epoch("2026-01-01 00:00:00.5", "UTC")
    1767225600500
    """
    if isinstance(value, str):
        parsed = datetime.fromisoformat(_padded(value))
        moment = parsed.replace(tzinfo=_zone(zone)) if parsed.tzinfo is None else parsed
    else:
        moment = value
    return round(moment.timestamp() * 1000)


def _padded(text: str) -> str:
    whole, dot, fraction = text.partition(".")
    return f"{whole}.{fraction:0<6}"[:26] if dot else text


def _zone(name: str) -> Any:
    return timezone.utc if name in ("UTC", "Z", "GMT") else ZoneInfo(name)
