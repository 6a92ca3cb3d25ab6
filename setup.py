"""Compiles the extension oltr._core with CMake for pip and wheels; pyproject.toml has the rest.

CMakeLists.txt is the one description of the build, so this file starts it and copies the result.  The
extension holds the engine and the lab; it needs libm, zlib and libyaml of the system.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
OPTIONS = ("CMAKE_BUILD_TYPE=Release", "BUILD_TESTING=OFF", "OLTR_BENCH=OFF", "OLTR_PROGRAM=OFF",
           "OLTR_REDIS=OFF", "OLTR_PYTHON=ON")


class CMakeBuild(build_ext):
    """Configures, builds the one target, and puts it where setuptools expects it."""

    def build_extension(self, extension):
        for program in ("cmake", "ninja"):
            if shutil.which(program) is None:
                sys.exit(f"setup.py: {program} is missing; run scripts/setup build, or install it")
        folder = pathlib.Path(self.build_temp).resolve() / "cmake"
        options = [f"-D{option}" for option in (*OPTIONS, f"OLTR_PYTHON3={sys.executable}")]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options], check=True)
        jobs = str(self.parallel or os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", folder, "-j", jobs, "--target", "oltr_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "python" / "oltr" / "_core.abi3.so", target)


setup(
    ext_modules=[Extension("oltr._core", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": CMakeBuild},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
