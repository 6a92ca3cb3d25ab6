"""The type stubs: what scripts/stubs writes, the names of the module, and mypy if it is there."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import oltr
import pytest
from oltr import _core

PACKAGE = pathlib.Path(oltr.__file__).parent
STUB = PACKAGE / "_core.pyi"
SOURCE = pathlib.Path(os.environ.get("OLTR_SOURCE", pathlib.Path(__file__).parents[2]))
CONFIG = "[mypy]\nignore_missing_imports = True\n"


def run(*command, folder):
    """Runs a module of Python on the package; its output and exit code."""
    installed = "site-packages" in PACKAGE.parts  # mypy finds it there, and refuses the path
    folders = {} if installed else dict.fromkeys(("PYTHONPATH", "MYPYPATH"), str(PACKAGE.parent))
    environment = {**os.environ, **folders}
    return subprocess.run([sys.executable, *command], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False)


def public(names):
    """Names that users see, and those of the protocol of copies."""
    return {name for name in names if not name.startswith("_")}


def members(node):
    """Names that a class of the stub defines."""
    names = set()
    for child in node.body:
        if isinstance(child, ast.FunctionDef):
            names.add(child.name)
        elif isinstance(child, ast.AnnAssign):
            names.add(child.target.id)
    return names


def tree():
    """The stub, parsed."""
    return ast.parse(STUB.read_text(encoding="utf-8"))


def test_stored_stubs_are_those_of_the_engine():
    script = SOURCE / "scripts" / "stubs"
    if not script.exists():
        pytest.skip("the sources are not here")
    environment = dict(os.environ, PYTHONPATH=str(PACKAGE.parent))
    result = subprocess.run([sys.executable, "-B", script, "--check"], env=environment, text=True,
                            capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_names_of_the_module_and_of_the_stub_are_the_same():
    names = set()
    for node in tree().body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    assert public(names) == public(dir(_core))


def test_members_of_classes_are_the_same():
    for node in tree().body:
        if not isinstance(node, ast.ClassDef) or not hasattr(_core, node.name):
            continue
        real = getattr(_core, node.name)
        own = set(vars(real))
        assert public(members(node)) == public(own), node.name


def test_arguments_of_methods_are_the_same():
    for node in tree().body:
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            real = getattr(getattr(_core, node.name, None), getattr(method, "name", ""), None)
            if not isinstance(method, ast.FunctionDef) or method.name.startswith("__"):
                continue
            if not callable(real):
                continue
            arguments = method.args.posonlyargs + method.args.args + method.args.kwonlyargs
            names = [argument.arg for argument in arguments]
            given = list(inspect.signature(real).parameters)
            assert [name for name in names if name not in ("self", "cls")] == [
                name for name in given if name != "self"], f"{node.name}.{method.name}"


def test_stubtest(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text(CONFIG)
    result = run("-m", "mypy.stubtest", "--mypy-config-file", "mypy.ini", "oltr._core",
                 folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy has read of other packages."""
    return tmp_path_factory.mktemp("cache")


def check_types(folder, cache, text):
    """The output of mypy for a program."""
    (folder / "program.py").write_text(text)
    (folder / "mypy.ini").write_text(CONFIG)
    return run("-m", "mypy", "--strict", "--config-file", "mypy.ini", "--cache-dir", str(cache),
               "program.py", folder=folder)


def test_mypy_accepts_good_programs(tmp_path, cache):
    pytest.importorskip("mypy")
    result = check_types(tmp_path, cache, """
import numpy as np
import oltr

policy = oltr.Policy("gts", 30, prior=(0.5, [0.1] * 30), sigma=0.3, seed=7)
ranking = policy.rank(3, candidates=[1, 2, 3, 4])
policy.learn(ranking, [0, 1])
policy.learn(np.array([3, 1, 2]), np.array([True, False, True]), examined=2)
first: int = ranking[0]
some: list[int] = ranking[:2]
copied: oltr.Policy = policy.copy()
loaded: oltr.Policy = oltr.load("file")
model = oltr.Model("ts-beta", prior=(1, 30), window=10)
shown = model.rank(3, ["a", b"b"], seed="session", greedy=True)
new: bool = model.learn(shown, clicked=[shown[0]], id="1")
with oltr.open("file", "lints", dim=2, lambda_=1.5) as store:
    state: oltr.StoreState = store.stat
    store.learn(store.rank(1, x=[[1.0, 2.0]]), [1])
chances = oltr.ope.chances(model, [["a", "b"]], slots=True)
value: float = oltr.ope.estimate([[0, 1]] * 2, chances, evaluated=chances, estimator="rips").value
oltr.ope.compare({"new": chances}, np.zeros((2, 2)), chances, estimators=["sips"]).plot()
linear = oltr.Policy("lints", 3, dim=2, lambda_=1.5)
linear.learn(linear.rank(2, x=[[1, 0], [0, 1], [1, 1]]), [1])
""")
    assert result.returncode == 0, result.stdout


BAD_LINES = [
    'oltr.Policy("gt", 30)', 'oltr.Policy("gts", 30, sigm=0.3)', 'oltr.Policy("gts", "x")',
    'oltr.Policy("gts", 30, sampler="other")', 'oltr.Policy("gts", 30).rank("3")',
    'oltr.Model("gts").rank("3")', 'oltr.Model("gts").learn(["a"], 1)',
    'oltr.Policy("random", 30, prior=(1, 2))', 'oltr.Policy("gts", 30).rank(3).x = 1',
    'oltr.Policy("gts", 30, lambda_=1)', 'oltr.Policy("gts", 30).learn([1, 2])',
]


def test_mypy_refuses_bad_programs(tmp_path, cache):
    pytest.importorskip("mypy")
    result = check_types(tmp_path, cache, "import oltr\n" + "\n".join(BAD_LINES) + "\n")
    for number, line in enumerate(BAD_LINES, 2):
        assert f"program.py:{number}: error" in result.stdout, line
