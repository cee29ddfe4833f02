"""How many modes are enough: tables against exact values, estimates against true errors."""

import numpy as np
import pytest

import dalembert as da
from elastic_arms import cantilever, two_links


def test_changes_are_those_of_a_finer_mechanism():
    coarse, fine = two_links(2, gravity=(0, -9.81, 0)), two_links(3, gravity=(0, -9.81, 0))
    q = {"shoulder": 0.3, "elbow": 0.5}
    table = da.modal_convergence(coarse, q, cutoff=500.0)
    rows = {row.quantity: row for row in table.rows}
    w = [da.natural_frequencies(m, q, locked="all") for m in (coarse, fine)]
    assert rows["frequency 2"].value == pytest.approx(w[0][1]) and rows["frequency 2"].finer == pytest.approx(w[1][1])
    assert len([name for name in rows if "frequency" in name]) == (w[1] <= 500).sum()
    sag = [np.linalg.norm(da.static_deflection(m, q).sag("tip")) for m in (coarse, fine)]
    assert (rows["sag of tip"].value, rows["sag of tip"].finer) == pytest.approx(sag)
    assert table.is_enough(rows["strain energy"].change + max(row.change for row in table.rows)) and not table.is_enough(1e-9)


def test_shares_of_energy_estimate_the_error_of_each_direction():
    """Own weight on a cantilever: strain energy q^2 l^5 / (40 EI); the estimate is the missing part to a few per cent."""
    EI, q = 1e3, 9.81
    exact = q**2 / (40 * EI)
    for modes in (1, 2):
        table = da.modal_convergence(cantilever({"bend_y": modes, "bend_z": 2}, gravity=(0, -9.81, 0), EI=EI), np.zeros(modes + 2))
        energy = table.rows[0]
        share = table.energy_shares["rod", "bend_y"]
        assert share == pytest.approx(1 - energy.value / energy.finer, rel=2e-2)
        assert table.energy_shares["rod", "bend_z"] == pytest.approx(0, abs=1e-20)
        assert energy.finer == pytest.approx(exact, rel=[3e-2, 1e-6][modes - 1])


def test_a_table_prints():
    text = str(da.modal_convergence(two_links(2), {"elbow": 0.4}))
    lines = text.splitlines()
    assert lines[0].split() == ["quantity", "unit", "given", "finer", "change"] and len(lines) == 5      # no loads: frequencies alone
    assert len({len(line) for line in lines}) == 1


def test_the_bandwidth_of_a_run_is_the_cutoff():
    arm = two_links(2, damping=da.Rayleigh(stiffness=2e-4))
    run = da.simulate(arm, arm.neutral(), np.zeros(arm.nv), 2.0, record=0.01, forces=lambda t, q, qd: [0.1 * da.sin(40 * t), *([0.0] * (arm.nv - 1))])
    table = da.modal_convergence(arm, arm.neutral(), run=run)
    assert 38 < table.cutoff < 50
    assert [row.quantity for row in table.rows] == ["frequency 1"]


def test_elements_are_refined_too():
    beam = da.Beam(1.0, EIy=10.0, EIz=10.0, mass_per_length=1.0)
    rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_z": 1}, elements=2)], [da.Joint("clamp", da.Fixed(), "wall", "rod")])
    table = da.modal_convergence(rod, rod.neutral())
    assert table.finer.nv == 4 and 0 < table.energy_shares["rod", "bend_z"] < 0.2
    assert table.rows[1].finer == pytest.approx(3.516015 * np.sqrt(10.0), rel=1e-2)


def test_errors_say_what_to_do():
    with pytest.raises(da.DalembertError, match="no elastic bodies"):
        da.modal_convergence(da.planar_chain(1), [0.0])
    own = cantilever({"bend_y": da.beams.ShapePolynomials(((0, 0, 0, 1),))})
    with pytest.raises(da.DalembertError, match="finer="):
        da.modal_convergence(own, own.neutral())
    finer = cantilever({"bend_y": da.beams.ShapePolynomials(((0, 0, 0, 1), (0, 0, 1)))})
    assert da.modal_convergence(own, own.neutral(), finer=finer).rows[0].change > 1e-3
    with pytest.raises(da.ShapeError, match="one state"):
        da.modal_convergence(own, np.zeros((2, 1)))
