"""What a run did: for people, and for run_results.json."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.contracts.connection import AdapterResponse


@dataclass
class Outcome:
    """What a run did, in the words of the report."""

    strategy: str = ""
    reason: str = ""
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    sources_changed: int = 0
    sources: int = 0
    prediction: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass
class IvmResponse(AdapterResponse):
    """Goes whole into run_results.json; its message is the line that people see."""

    strategy: str = ""
    reason: str = ""
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    sources: int = 0
    sources_changed: int = 0
    statements: int = 0
    seconds: float = 0.0
    prediction: str = ""


def respond(outcome: Outcome, statements: int, seconds: float) -> IvmResponse:
    message = f"IVM {outcome.strategy}: {outcome.reason}"
    if outcome.strategy == "incremental":
        message = (
            f"IVM incremental: +{outcome.rows_inserted} -{outcome.rows_deleted} "
            f"~{outcome.rows_updated} rows, {outcome.sources_changed} of {outcome.sources} "
            f"sources changed"
        )
    message += f", {seconds:.1f} s"
    return IvmResponse(
        _message=message,
        code=outcome.strategy,
        rows_affected=outcome.rows_inserted + outcome.rows_updated + outcome.rows_deleted,
        strategy=outcome.strategy,
        reason=outcome.reason,
        rows_inserted=outcome.rows_inserted,
        rows_updated=outcome.rows_updated,
        rows_deleted=outcome.rows_deleted,
        sources=outcome.sources,
        sources_changed=outcome.sources_changed,
        statements=statements,
        seconds=round(seconds, 3),
        prediction=outcome.prediction,
    )
