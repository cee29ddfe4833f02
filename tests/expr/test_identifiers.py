"""Identifiers for target languages (open cases O14, O15: the map; the compilers' half comes with the targets)."""

import keyword
import re

import pytest

import dalembert as da
from dalembert.expr.identifiers import MAX_IDENTIFIER, safe_identifiers

O14 = ["плечо 1", "关节:θ", "ｱﾙﾐ", "ü_é"]
O15 = ["lambda", "in", "x_{1}", "f_{ext}", "\\alpha", "I", "E", "N", "S", "beta", "double", "q-1", "a b", "a_b", "i", "gamma"]


@pytest.mark.parametrize("names", [O14, O15, ["1", "2nd", "_", "", " ", "-"], ["A" * 300, "A" * 301], ["x"] * 3])
def test_identifiers_are_safe_and_unique(names):
    found = safe_identifiers(names)
    assert set(found) == set(names)
    assert len({i.lower() for i in found.values()}) == len(found)
    for identifier in found.values():
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", identifier) and len(identifier) <= MAX_IDENTIFIER + 4
        assert not keyword.iskeyword(identifier) and identifier not in ("I", "E", "N", "S", "double", "beta", "gamma")


def test_plain_names_stay_and_others_stay_recognisable():
    assert safe_identifiers(["elbow", "q1", "ü_é", "lambda", "a b", "a_b", "x_{1}"]) == {
        "elbow": "elbow", "q1": "q1", "ü_é": "u_e", "lambda": "lambda_", "a b": "a_b", "a_b": "a_b_2", "x_{1}": "x_1"}


def test_words_of_later_c_of_cpp_and_of_sympy_are_not_identifiers_but_q_is():
    assert list(safe_identifiers(["q", "Q", "i", "new", "bool", "isless", "NaN", "e"]).values()) == [
        "q", "Q_", "i", "new_", "bool_", "isless_", "NaN_", "e"]


def test_a_mechanism_lists_the_identifiers_of_its_names():
    m = da.Mechanism("robot", [da.Body("base"), da.Body("плечо 1", 1)], [da.Joint("lambda", da.Revolute(), "base", "плечо 1")])
    assert m.identifiers == {"base": "base", "плечо 1": "u43fu43bu435u447u43e_1", "lambda": "lambda_"}


def test_for_a_language_that_tells_upper_from_lower_case_only_its_own_words_are_not_identifiers():
    assert list(safe_identifiers(["m", "M", "I", "double", "lambda", "a b", "a_b"], {"lambda"}).values()) == [
        "m", "M", "I", "double", "lambda_", "a_b", "a_b_2"]
