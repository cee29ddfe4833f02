"""Makes tests/data/reference/exact_arm.json: the damped two-link arm by exact beams, converged over modes and tolerances.

    PYTHONPATH=tests python tests/scripts/exact_arm.py
"""

import json
from pathlib import Path

import numpy as np

from flexible_arms import absolute, ends, run_of, two_links

TIMES = np.linspace(0, 4.2, 85)
MODES, RTOL = (3, 4, 5, 6, 7, 8), (1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
FILE = Path(__file__).parents[1] / "data" / "reference" / "exact_arm.json"


def tip(modes, rtol):
    arm = two_links(modes)
    q = run_of(arm, TIMES, rtol=rtol, atol=rtol * 1e-2).q
    return ends(arm, q)[1], absolute(arm, q)


def main():
    best, angles = tip(8, 1e-10)

    def distance(modes, rtol):
        return np.maximum.accumulate(np.linalg.norm(tip(modes, rtol)[0] - best, axis=1))

    at = [int(np.argmin(abs(TIMES - t))) for t in (1.0, 2.5, 4.2)]
    by_modes = [[p, *distance(p, 1e-10)[at]] for p in MODES[:-1]]
    by_rtol = [[rtol, *distance(7, rtol)[at]] for rtol in RTOL]
    columns = ["t", "x", "y", "phi1", "phi2", "w1", "w2"]
    table = np.column_stack([TIMES, best, angles]).round(10).tolist()
    case = {"how computed": "dalembert, kinematics 'exact', 8 Legendre modes a link, Rodas5P, rtol 1e-10", "columns": columns, "rows": table,
            "distance of the tip to it up to 1.0, 2.5, 4.2 s [m], by modes": by_modes, "the same with 7 modes, by rtol": by_rtol}
    FILE.write_text(json.dumps({"damped": case}).replace("], [", "],\n  [") + "\n")


if __name__ == "__main__":
    main()
