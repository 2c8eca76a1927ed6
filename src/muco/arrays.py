"""The two kinds of arrays that cross the border to the core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]  # codes of records; a missing value is the last code of its attribute
Offsets = NDArray[np.int64]  # record numbers, or where groups begin
