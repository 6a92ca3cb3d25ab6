"""The catalogue, the documentation made from it, and its examples."""

import doctest
import inspect
import keyword

import oltr
import pytest
from oltr import _core
from oltr import catalogue as catalogue_module
from scenes import CATALOGUE, KINDS, make


def test_policies_lists_all_kinds():
    pytest.importorskip("pandas")
    frame = oltr.policies()
    assert list(frame.index) == KINDS
    assert frame.loc["gts", "rewards"] == "reals"
    assert frame.loc["lints", "contextual"] and not frame.loc["gts", "contextual"]
    assert {"title", "summary", "source", "can_predict", "can_merge", "uses_prior"} <= set(frame)


def test_policies_lists_the_parameters_of_one_kind():
    pytest.importorskip("pandas")
    frame = oltr.policies("gts")
    assert list(frame.columns) == ["type", "default", "min", "max", "choices", "help"]
    assert frame.loc["sigma"].tolist()[:4] == ["real", 0.5, 1e-6, 1e6]
    assert frame.loc["sampler", "choices"][:2] == ["posterior", "released"]
    assert frame.loc["sampler", "default"] == "posterior" and frame.loc["sampler", "min"] is None
    assert len(oltr.policies("random")) == len(CATALOGUE["random"]["params"])


def test_an_unknown_kind_names_the_nearest():
    with pytest.raises(oltr.Error, match="did you mean 'gts'") as caught:
        oltr.policies("gt")
    assert caught.value.code == "EKIND"
    for name in (3, b"gts", ["gts"]):
        with pytest.raises(TypeError):
            oltr.policies(name)
    with pytest.raises(ValueError, match="zero byte"):
        oltr.policies("gts\0")


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_those_of_the_engine(kind):
    defaults = {param["name"]: param["default"] for param in CATALOGUE[kind]["params"]}
    assert make(kind).params == defaults


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold(kind):
    for param in CATALOGUE[kind]["params"]:
        if param["type"] == "choice":
            with pytest.raises(oltr.Error):
                make(kind, **{param["name"]: "no such choice"})
            continue
        for beyond in (param["min"] - 1, param["max"] * 2 + 1, float("nan"), float("inf")):
            with pytest.raises(oltr.Error) as caught:
                make(kind, **{param["name"]: beyond})
            assert caught.value.code == "EVALUE" and param["name"] in str(caught.value)


def test_each_call_gives_new_objects():
    _core.catalogue()[0]["params"].clear()
    assert _core.catalogue()[0]["params"]


@pytest.mark.parametrize("kind", KINDS)
def test_help_has_every_kind_and_parameter(kind):
    text = inspect.getdoc(oltr.Policy)
    at = text.index(f"\n{kind}: ")
    for param in CATALOGUE[kind]["params"]:
        name = param["name"] + "_" * keyword.iskeyword(param["name"])
        at = text.index(f"  {name}={param['default']!r}", at)
    assert max(map(len, text.split("\n"))) <= 100


def test_everything_public_has_documentation():
    for owner in (oltr.Policy, oltr.Ranking):
        for name in dir(owner):
            if not name.startswith("_"):
                assert inspect.getdoc(getattr(owner, name)), name
    for name in oltr.__all__:
        assert name.startswith("__") or inspect.getdoc(getattr(oltr, name)), name


def test_signatures():
    assert str(inspect.signature(oltr.Policy)) == (
        "(kind, items, *, dim=0, prior=None, seed=0, **params)")
    rank = inspect.signature(oltr.Policy.rank)
    assert list(rank.parameters) == ["self", "k", "candidates", "x", "seed", "round"]
    for name in dir(oltr.Policy):
        method = getattr(oltr.Policy, name)
        if callable(method) and not name.startswith("_"):
            inspect.signature(method)


@pytest.mark.parametrize("module", [oltr, catalogue_module, oltr.ope])
def test_examples_of_the_documentation(module):
    pytest.importorskip("pandas")
    result = doctest.testmod(module)
    assert result.attempted > 0 and result.failed == 0
