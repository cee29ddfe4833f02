"""Diagrams as SVG: curves that are told apart on any paper and by anyone, noise as nothing, any names."""

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from dalembert.views.diagrams.charts import CURVES, chart
from dalembert.views.diagrams.panels import Panel

PAPERS = ("#ffffff", "#242424")
# Colours as people with deficient vision see them, in linear light (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]])
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]])


def linear(colour):
    c = np.array([int(colour[k:k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return linear(colour) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("paper", PAPERS)
def test_curves_have_the_contrast_of_graphics_on_light_and_dark_paper(paper):
    for colour in CURVES:
        low, high = sorted((luminance(colour), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour


@pytest.mark.parametrize("kind", SEEN)
def test_curves_of_one_stroke_are_told_apart_by_everyone(kind):
    seen = [np.cbrt(np.clip(np.array(SEEN[kind]) @ linear(colour), 0, 1) @ TO_LMS.T) @ TO_LAB.T for colour in CURVES]
    half = len(CURVES) // 2
    for group in (seen[:half], seen[half:]):                  # solid, dashed
        assert min(np.linalg.norm(a - b) for a, b in combinations(group, 2)) > 0.07      # of Oklab; 0.02 is just seen


def panel(values, names=("a",), scale=1.0):
    return Panel("q", "time [s]", "angles [rad]", np.linspace(0, 1, len(values))[None, :, None], np.array(values)[None], names, scale=scale)


def figure(drawn):
    root = ElementTree.fromstring(chart(drawn))
    return root, [e for e in root.iter("svg") if e.get("role") == "img"][0]


def test_noise_is_drawn_as_nothing_and_said():
    _, svg = figure(panel(1e-17 * np.sin(np.arange(50.0))[:, None]))
    heights = {point.split(",")[1] for point in svg.find("polyline").get("points").split()}
    assert len(heights) == 1 and "0 within rounding" in "".join(svg.itertext())


def test_ticks_of_a_narrow_range_differ():
    _, svg = figure(panel(1e5 + np.linspace(0, 1e-3, 50)[:, None]))
    up = [e.text for e in svg.iter("text") if e.get("text-anchor") == "end"]
    assert len(up) >= 3 and len({*up}) == len(up)


def test_values_that_are_no_numbers_leave_gaps_and_any_name_is_text():
    names = ("<script>", "x" * 100_000, "\0\u202e")
    values = np.tile(np.linspace(0, 1, 50)[:, None], 3)
    values[10:, 1] = np.nan
    values[:, 2] = np.inf
    root, svg = figure(panel(values, names))
    lengths = [len(line.get("points").split()) for line in svg.iter("polyline")]
    assert lengths == [50, 10, 0]
    text = "".join(root.itertext())
    assert "<script>" in text and r"\x00\u202e" in text and len(text) < 500
