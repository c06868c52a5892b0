"""Every bug, by what it is a bug of."""

from __future__ import annotations

from .claiming import CLAIMING
from .holding import HOLDING
from .mutant import Mutant
from .reading import READING
from .spelling import SPELLING
from .standing_on import STANDING_ON

MUTANTS: tuple[Mutant, ...] = (*READING, *CLAIMING, *HOLDING, *SPELLING, *STANDING_ON)

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
