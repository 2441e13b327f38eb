"""Errors in three parts: what is wrong, the detail, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class IvmError(Exception):
    """An error that a user can act on."""

    def __init__(self, message: str, *, detail: str = "", hint: str = "") -> None:
        self.message, self.detail, self.hint = message, detail, hint
        super().__init__("\n".join(part for part in self.lines()))

    def lines(self) -> Iterable[str]:
        yield self.message
        if self.detail:
            yield f"  {self.detail}"
        if self.hint:
            yield f"  hint: {self.hint}"


@dataclass(frozen=True)
class Reason:
    """One construct that cannot be maintained yet, and where it stands."""

    construct: str
    fragment: str

    def __str__(self) -> str:
        fragment = " ".join(self.fragment.split())
        if len(fragment) > 90:
            fragment = fragment[:87] + "..."
        return f"{self.construct}: {fragment}" if fragment else self.construct


class Unsupported(IvmError):
    """The model is valid SQL, but outside of what is maintained; all reasons at once."""

    def __init__(self, reasons: Iterable[Reason]) -> None:
        self.reasons = tuple(dict.fromkeys(reasons))
        super().__init__("; ".join(str(reason) for reason in self.reasons))
