"""Goals: figures with the bound that they must reach."""

from __future__ import annotations

from dataclasses import dataclass

from .measuring import rounded


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, and what it has to be.

    :ivar value: ``None`` where it was not measured; ``why`` says the reason.
    :ivar n: of how many of what (``of``) it was taken.
    :ivar against: whom a ratio compares with.
    """

    name: str
    value: float | None
    bound: float
    n: int
    of: str
    unit: str = ""
    at_most: bool = True
    why: str = ""
    against: str = ""

    @property
    def is_met(self) -> bool | None:
        if self.value is None:
            return None
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def row(self) -> tuple[str, ...]:
        unit = f" {self.unit}" if self.unit else ""
        measured = self.why or "-" if self.value is None else f"{rounded(self.value)}{unit}"
        bound = f"{'<=' if self.at_most else '>='} {self.bound:g}{unit}"
        met = {True: "yes", False: "no", None: "-"}[self.is_met]
        return self.name, f"{self.n:,} {self.of}", measured, bound, met
