"""The elastic arm among the models, against the exact frequencies of its beams."""

import numpy as np

import dalembert as da

FILE = da.data.path("elastic_arm")
# rad/s; joints locked, no gravity; exact: clamped beams with a sphere at the end, by the angle of the elbow in degrees
EXACT = {0: (6.43666048, 127.333467), 30: (6.62444499, 66.0450441), 60: (7.23052354, 38.6795493), 90: (8.38012932, 29.3977071)}


def test_the_example_has_the_frequencies_of_exact_beams():
    arm = da.load(FILE.read_text().replace("bend_y = 2", "bend_y = 6"))
    arm = arm.replace({f"{body}.rotary_inertia[2]": 0 for body in ("upper", "lower")}, gravity=(0, 0, 0))      # exact values have none
    angles = np.radians([*EXACT])
    found = da.natural_frequencies(arm, {"elbow": angles}, locked=["shoulder", "elbow"])[:, :2]
    np.testing.assert_allclose(found, [*EXACT.values()], rtol=1e-8)


def test_the_example_hangs_at_rest():
    arm = da.load(FILE)
    np.testing.assert_allclose(da.gravity_vector(arm, np.zeros(6)), 0, atol=1e-12)
    np.testing.assert_allclose(da.placement(arm, np.zeros(6), "tip")[:3, 3], [0, 0, -1.6], atol=1e-12)
