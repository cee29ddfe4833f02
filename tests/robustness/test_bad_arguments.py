"""Arguments of another kind: the message names the argument, says what it is and what was expected."""

import numpy as np
import pytest

import dalembert as da

ARM = da.planar_chain(1)
OTHERS = [None, True, 3, 1.5, 1j, np.array(1.0), object()]


def refused(call, *parts):
    with pytest.raises(TypeError) as caught:
        call()
    said = str(caught.value)
    assert all(part in said for part in parts) and "is not iterable" not in said and "attribute" not in said, said


@pytest.mark.parametrize("other", [*OTHERS, "xyz", b"xyz"], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("make, name", [
    (lambda x: da.Body("a", 1, x), "com of body 'a'"), (lambda x: da.Body("a", 1, (0, 0, 0), x), "inertia of body 'a'"),
    (lambda x: da.Origin(x), "origin"), (lambda x: da.Origin((0, 0, 0), [(1, 0)] if isinstance(x, str) else [(x, 0)]), "rotation axis"),
    (lambda x: da.Revolute(x), "axis"), (lambda x: da.planar_chain(1, gravity=x), "gravity"),
    (lambda x: da.from_motions("Rz(q1)", gravity=x), "gravity"), (lambda x: da.Mechanism("m", x, []), "bodies"),
    (lambda x: da.Mechanism("m", [da.Body("a")], x), "joints"), (lambda x: da.Mechanism("m", [da.Body("a")], [], x), "frames"),
    (lambda x: da.from_dh(x), "the table"), (lambda x: da.from_dh([3 if isinstance(x, (str, bytes)) else x]), "row 1"),
], ids=["com", "inertia", "origin", "rotation", "axis", "gravity", "gravity of motions", "bodies", "joints", "frames", "rows", "row"])
def test_what_is_no_vector_or_list_is_named(make, name, other):
    refused(lambda: make(other), name, "expected")


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("call, name", [
    (da.symbols, "names of symbols"), (da.equations(ARM).text, "the quantity"), (ARM.replace, "by path"),
    (lambda x: ARM.lock(x), "lock"), (lambda x: da.from_motions(x), "the chain"),
    (lambda x: da.equations(ARM, symbols=[x]), "symbols"),
    (lambda x: da.simulate(ARM, [0], [0], 0.1, parameters=3 if x is None else x), "parameters"),
    (lambda x: da.Mechanism("m", [x], []), "bodies"), (lambda x: da.Mechanism("m", [da.Body("a")], [x]), "joints"),
], ids=["symbols", "text", "replace", "lock", "chain", "symbols of equations", "parameters", "a body", "a joint"])
def test_what_has_no_names_is_refused(call, name, other):
    refused(lambda: call(other), name, "expected")


@pytest.mark.parametrize("options", [{"budget": x} for x in (None, "1", -1, np.nan, 1e4, True)]
                         + [{"digits": x} for x in (None, "x", 0, 2.5)], ids=lambda x: type(x).__name__)
def test_budget_and_digits_of_equations_are_whole_numbers(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}=.*expected a whole number"):
        da.equations(ARM, **options)
