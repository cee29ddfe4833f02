"""Cross-sections: closed forms, published constants, stresses, and beams of them."""

import numpy as np
import pytest

import dalembert as da

beams = da.beams
TIMOSHENKO = {1: (0.1406, 0.208), 1.5: (0.196, 0.231), 2: (0.229, 0.246), 3: (0.263, 0.267), 10: (0.312, 0.312)}      # section 109


@pytest.mark.parametrize("ratio", TIMOSHENKO)
def test_torsion_of_rectangles_is_that_of_the_table(ratio):
    section = beams.rectangle(ratio, 1)
    assert (section.J / ratio, section.torsion_modulus / ratio) == pytest.approx(TIMOSHENKO[ratio], abs=6e-4)
    assert beams.rectangle(1, ratio).J == section.J


def test_tube_of_the_two_link_example():
    """Mean radius 6.25 mm and wall 0.8 mm: area 10 pi mm^2, EI = 129.38 N m^2 (Gulyaev and Zavrazhina)."""
    section = beams.tube(0.0133, 0.0008)
    assert section.area == pytest.approx(np.pi * 1e-5, rel=1e-12)
    assert 2.1e11 * section.Iz == pytest.approx(129.382, abs=5e-4)
    assert section.J == 2 * section.Iy


def test_moments_of_area_by_summation():
    """Axes: height along y is what Iz grows with."""
    sections = {"box": (beams.box(0.06, 0.04, 0.005), lambda y, z: ~((abs(y) < 0.025) & (abs(z) < 0.015))),
                "i": (beams.i_profile(0.06, 0.04, 0.004, 0.005), lambda y, z: (abs(y) > 0.025) | (abs(z) < 0.002)),
                "rectangle": (beams.rectangle(0.06, 0.04), lambda y, z: y == y)}
    y, z = np.meshgrid((np.arange(600) + 0.5) / 600 * 0.06 - 0.03, (np.arange(400) + 0.5) / 400 * 0.04 - 0.02)
    cell = 0.06 / 600 * 0.04 / 400
    for section, inside in sections.values():
        mask = inside(y, z)
        assert section.area == pytest.approx(cell * mask.sum(), rel=1e-12)
        assert section.Iz == pytest.approx(cell * (y**2 * mask).sum(), rel=1e-4)
        assert section.Iy == pytest.approx(cell * (z**2 * mask).sum(), rel=1e-4)
        assert section.outer == (0.03, 0.02)


def test_stresses_of_outer_fibres():
    bar = beams.round_bar(0.02)
    stress = bar.stress([(100.0, 0, 0)] * 2, [(0, 3.0, 4.0), (2.0, 0, 0)])
    assert stress.normal == pytest.approx([100 / bar.area + 5 * 0.01 / bar.Iz, 100 / bar.area])
    assert stress.shear == pytest.approx([0, 16 * 2.0 / (np.pi * 0.02**3)])
    assert stress.von_mises[1] == pytest.approx(np.hypot(stress.normal[1], np.sqrt(3) * stress.shear[1]))
    plate = beams.rectangle(0.03, 0.02)
    assert plate.stress((0, 0, 0), (0, 3.0, 4.0)).normal == pytest.approx(6 * 3.0 / (0.03 * 0.02**2) + 6 * 4.0 / (0.02 * 0.03**2))
    bare = beams.CrossSection(1e-4, 1e-9, 1e-9)
    with pytest.raises(da.ModelError, match="no outer fibres"):
        bare.stress((1, 0, 0), (0, 0, 0))


def test_beam_of_a_section():
    steel, section = beams.material("steel"), beams.rectangle(0.03, 0.02)
    beam = da.Beam.of_section(1.2, section, steel, EA=None)
    assert (beam.EIy, beam.EIz) == (steel.E * section.Iy, steel.E * section.Iz) and beam.EIz > beam.EIy and beam.EA is None
    assert beam.GJ == steel.G * section.J and steel.G == pytest.approx(80.77e9, rel=1e-4)
    assert beam.rotary_inertia == (7850 * (section.Iy + section.Iz), 7850 * section.Iy, 7850 * section.Iz)
    assert beam.section is section and beam.mass_per_length == 7850 * section.area
    taper = da.Beam.of_section(1.2, lambda xi: beams.rectangle(0.03 - 0.02 * xi, 0.02), steel)
    for xi in (0.1, 0.6, 0.93):
        there = beams.rectangle(0.03 - 0.02 * xi, 0.02)
        assert taper.at("EIz", xi) == pytest.approx(steel.E * there.Iz, rel=1e-12)
        assert taper.at("rotary_inertia[2]", xi) == pytest.approx(7850 * there.Iz, rel=1e-12)
        assert taper.at("GJ", xi) == pytest.approx(steel.G * there.J, rel=2e-3)      # of a rectangle, no polynomial


def test_symbols_in_sections():
    h, = da.symbols("h")
    beam = da.Beam.of_section(1, beams.rectangle(h, 0.02), beams.material("steel"))
    assert beam.GJ is None and da.substitute(beam.EIz, {h: 0.03}) is not None


@pytest.mark.parametrize("call, message", [
    (lambda: beams.rectangle(0, 1), "height of a section is 0 m"), (lambda: beams.tube(0.01, 0.005), "walls of 0.005 m within 0.01 m"),
    (lambda: beams.box(0.1, 0.02, 0.01), "walls"), (lambda: beams.i_profile(0.1, 0.05, 0.06, 0.01), "walls of 0.03 m within 0.05"),
    (lambda: beams.Material(E=-1, rho=1), "E of a material is -1 Pa"), (lambda: beams.Material(1, 1, nu=0.6), "between -1 and 0.5"),
    (lambda: beams.Material(1, 1, nu=0.3, G=1), "give one of them"), (lambda: beams.material("wood"), "unknown material 'wood'"),
    (lambda: da.Beam.of_section(1, "square", beams.material("steel")), "da.beams.rectangle"),
    (lambda: da.Beam.of_section(1, beams.round_bar(0.1), "steel"), "da.beams.material")])
def test_sections_that_do_not_exist_are_refused(call, message):
    with pytest.raises((TypeError, da.DalembertError), match=message):
        call()
