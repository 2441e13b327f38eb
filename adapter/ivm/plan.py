"""The plan: immutable operator nodes. What an operator knows stands in its own file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from sqlglot import exp

from ivm import names
from ivm.sql import alias, column, number, select, subquery

if TYPE_CHECKING:
    from ivm.operators.scan import Scan

State = Literal["pre", "post"]
Dependency = tuple[frozenset[str], frozenset[str]]
Self = TypeVar("Self", bound="Operator")

OPERATORS: dict[str, type[Operator]] = {}


@dataclass(frozen=True)
class Signed:
    """A query for rows of an operator. `signed`: a weight column says how often each row counts.

    `small` marks a delta, which is worth broadcasting wherever it is joined.
    """

    query: exp.Query
    signed: bool
    small: bool = False

    @property
    def weight(self) -> exp.Expr:
        return column(names.WEIGHT) if self.signed else number(1)


class States(Protocol):
    """Where the rows of a base table come from in this refresh."""

    def changed(self, scan: Scan) -> bool: ...

    def post(self, scan: Scan) -> Signed: ...

    def pre(self, scan: Scan) -> Signed: ...

    def delta(self, scan: Scan) -> Signed: ...


@dataclass(frozen=True)
class Operator(ABC):
    """A relational operator. Column names are unique in the whole plan."""

    name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        OPERATORS[cls.name] = cls

    @property
    @abstractmethod
    def inputs(self) -> tuple[Operator, ...]: ...

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def ids(self) -> tuple[str, ...]:
        """Columns that identify a row (idIVM Table 1)."""

    @abstractmethod
    def with_inputs(self: Self, inputs: tuple[Operator, ...]) -> Self: ...

    @abstractmethod
    def require(self, needed: frozenset[str]) -> Operator:
        """The same operator, carrying no more than `needed` and its IDs."""

    @abstractmethod
    def dependencies(self) -> tuple[Dependency, ...]:
        """Functional dependencies among all columns at and below this operator."""

    @abstractmethod
    def state(self, states: States, which: State) -> Signed:
        """The operator's rows before or after the changes."""

    @abstractmethod
    def tuple_delta(self, states: States) -> Signed | None:
        """The signed rows by which the two states differ; None if no input changed."""

    @abstractmethod
    def conditional(self) -> frozenset[str]:
        """Columns of the inputs that decide which rows exist (idIVM section 5)."""

    @abstractmethod
    def detail(self) -> str:
        """One line for the printed plan."""

    def walk(self) -> Iterator[Operator]:
        yield self
        for child in self.inputs:
            yield from child.walk()

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        ids = ", ".join(self.ids)
        yield f"{indent}{self.name} {self.detail()}  ids({ids})"
        for child in self.inputs:
            yield from child._lines(indent + "  ")


def selected(child: Signed, outputs: list[exp.Expr], where: exp.Expr | None = None) -> Signed:
    """A projection of a child's rows that keeps their weight."""
    if child.signed:
        outputs = [*outputs, column(names.WEIGHT)]
    return replace(child, query=select(outputs, subquery(child.query, "input"), where))


def empty(child: Signed, signed: bool) -> Signed:
    """No rows, but the types of the child: an unchanged UNION ALL branch still types the others."""
    outputs: list[exp.Expr] = [exp.column(exp.Star(), table="input", quoted=True)]
    if signed and not child.signed:
        outputs.append(alias(number(1), names.WEIGHT))
    return Signed(select(outputs, subquery(child.query, "input"), exp.false()), signed, True)
