"""The model's own options, checked at once: every bad one is named in one error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ivm.errors import IvmError

CHOICES = {
    "refresh": ("auto", "incremental", "full"),
    "on_unsupported": ("rebuild", "error"),
    "float_sums": ("recompute", "add"),
}


@dataclass(frozen=True)
class IvmConfig:
    refresh: str = "auto"
    on_unsupported: str = "rebuild"
    float_sums: str = "recompute"

    @classmethod
    def read(cls, model: str, config: Mapping[str, Any]) -> IvmConfig:
        """From the model's config, or from `meta.ivm` where other adapters refuse unknown keys."""
        meta = (config.get("meta") or {}).get("ivm") or {}
        chosen, wrong = dict[str, str](), list[str]()
        for name, allowed in CHOICES.items():
            value = config.get(name, meta.get(name))
            if value is None:
                continue
            if value not in allowed:
                wrong.append(f"{name}: {value!r} is none of {', '.join(allowed)}")
            chosen[name] = value
        if wrong:
            raise IvmError(f"model {model}: wrong configuration", detail="; ".join(wrong))
        return cls(**chosen)

    def as_dict(self) -> dict[str, str]:
        return asdict(self)
