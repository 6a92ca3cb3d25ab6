"""oltr.Dataset: judged documents as arrays, without a copy."""

import gc
import gzip
import os
import subprocess
import sys
import textwrap

import pytest

import oltr

TEXT = """2 qid:11 1:0.5 2:-0.5 4:1e3   # anything
0 qid:11 1:0.25
1 qid:7 3:1
# a comment

3 qid:18446744073709551615 2:2 4:4
0 qid:7 1:9
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "judged.txt"
    file.write_text(TEXT)
    return file


def test_arrays(path):
    data = oltr.Dataset(path)
    assert (data.n_queries, data.n_rows, data.dim) == (3, 5, 4)
    assert len(data) == 3
    assert data.query.tolist() == [11, 7, 2**64 - 1]
    assert data.first_row.tolist() == [0, 2, 4, 5]
    assert data.grade.tolist() == [2, 0, 1, 0, 3]
    assert data.x.tolist()[0] == [0.5, -0.5, 0.0, 1000.0]
    assert data.x.shape == (5, 4)
    assert data.report == {
        "lines": 7, "skipped": 0, "first_skipped_line": 0, "first_reason": "", "clamped": 0,
        "duplicates": 0, "from_cache": False,
    }  # fmt: skip
    assert repr(data).endswith("3 queries, 5 documents, 4 features")


def test_queries(path):
    data = oltr.Dataset(str(path))
    queries = list(data)
    assert [query.id for query in queries] == [11, 7, 2**64 - 1]
    assert queries[1].grade.tolist() == [1, 0]
    assert queries[1].x.tolist() == [[0, 0, 1, 0], [9, 0, 0, 0]]
    assert data[-1].id == 2**64 - 1 and data[0].x.shape == (2, 4)
    for index in (3, -4, 10**30):
        with pytest.raises(IndexError):
            data[index]
    for index in ("a", 1.0, None):
        with pytest.raises((TypeError, AttributeError)):
            data[index]


def test_arrays_are_views_that_keep_the_memory(path):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    data = oltr.Dataset(path)
    assert (data.x.dtype, data.grade.dtype) == (numpy.float32, numpy.uint8)
    assert (data.query.dtype, data.first_row.dtype) == (numpy.uint64, numpy.uint32)
    assert numpy.shares_memory(data.x, data._memory.x)
    assert not data.x.flags.writeable
    with pytest.raises(ValueError):
        data.x[0, 0] = 1
    x, row = data.x, data[1].x
    before = x.copy()
    del data
    gc.collect()
    assert (x == before).all() and row[1, 0] == 9
    with pytest.raises(ValueError):
        x.flags.writeable = True


def test_saved_files_and_caches(path, tmp_path):
    data = oltr.Dataset(path)
    saved = tmp_path / "saved.oltr"
    data.save(saved)
    again = oltr.Dataset(saved)
    assert again.x.tolist() == data.x.tolist() and again.query.tolist() == data.query.tolist()
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert not oltr.Dataset(path, cache=True).report["from_cache"]
    assert oltr.Dataset(path, cache=True).report["from_cache"]
    with pytest.raises(oltr.FileError):
        data.save(tmp_path / "no" / "folder")
    saved.write_bytes(saved.read_bytes()[:-3])
    with pytest.raises(oltr.Error) as caught:
        oltr.Dataset(saved)
    assert caught.value.code == "ETRUNCATED"


def test_gzip_and_threads(path, tmp_path):
    packed = tmp_path / "judged.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    expected = oltr.Dataset(path).x.tolist()
    assert oltr.Dataset(packed).x.tolist() == expected
    assert oltr.Dataset(path, threads=3).x.tolist() == expected


def test_bad_lines(path):
    path.write_text("1 qid:1 1:2\n2 qid:1 1:nan\n1 qid:1 2:3 2:4 3:1e300\nodd\n")
    with pytest.raises(oltr.Error) as caught:
        oltr.Dataset(path)
    assert caught.value.code == "EDATA"
    assert "line 2, column 11: expected a finite number" in str(caught.value)
    data = oltr.Dataset(path, lenient=True)
    assert data.n_rows == 2
    report = data.report
    assert (report["skipped"], report["first_skipped_line"]) == (2, 2)
    assert "finite number" in report["first_reason"]
    assert (report["clamped"], report["duplicates"]) == (1, 1)


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "1 qid:1\n", "\0\0\0", "1 1:2\n", "-1 qid:1 1:1\n"]
)
def test_texts_without_rows(path, text):
    path.write_text(text)
    with pytest.raises(oltr.Error):
        oltr.Dataset(path)


def test_most_features(path):
    with pytest.raises(oltr.Error, match="line 1"):
        oltr.Dataset(path, most_features=3)
    path.write_text("1 qid:1 5000:1\n")
    assert oltr.Dataset(path, most_features=5000).dim == 5000


@pytest.mark.parametrize(
    ("arguments", "exception"),
    [
        ((3.5,), TypeError),
        ((None,), TypeError),
        (("a\0b",), ValueError),
        (("nowhere.txt",), oltr.FileError),
        ((b"nowhere.txt",), oltr.FileError),
        ((".",), oltr.Error),
    ],
)
def test_bad_paths(arguments, exception):
    with pytest.raises(exception):
        oltr.Dataset(*arguments)


@pytest.mark.parametrize(
    "keywords",
    [
        {"threads": -1},
        {"threads": 1.5},
        {"threads": True},
        {"threads": 2**40},
        {"most_features": 2**21},
    ],
)
def test_bad_numbers(path, keywords):
    with pytest.raises(ValueError):
        oltr.Dataset(path, **keywords)


def test_without_numpy(path):
    code = """
    import sys
    sys.modules["numpy"] = None
    import oltr
    data = oltr.Dataset(sys.argv[1])
    assert isinstance(data.x, memoryview) and data.x[0, 3] == 1000.0
    assert [q.x.tolist()[0][0] for q in data] == [0.5, 0.0, 0.0]
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_while_reading(tmp_path):
    """A pipe that never ends: the signal ends the reading."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = """
    import os, signal, sys, threading, time
    import oltr
    def feed():
        with open(sys.argv[1], "w") as file:
            line = "1 qid:1 1:0.5\\n" * 10000
            for i in range(20):
                file.write(line)
            os.kill(os.getpid(), signal.SIGINT)
            try:
                while True:
                    file.write(line)
            except OSError:
                pass
    threading.Thread(target=feed, daemon=True).start()
    try:
        oltr.Dataset(sys.argv[1])
    except KeyboardInterrupt:
        print("interrupted")
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(pipe)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "interrupted\n", done.stderr


def test_memory_is_flat(path):
    if os.environ.get("OLTR_SANITIZED"):
        pytest.skip("a sanitizer keeps freed memory")
    path.write_text("".join(f"1 qid:{i // 10} 1:{i} 50:2\n" for i in range(5000)))

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def work(count):
        for _ in range(count):
            data = oltr.Dataset(path)
            assert sum(len(query.grade) for query in data) == 5000
            data.report
        gc.collect()

    work(10)
    before = resident()
    work(60)
    assert resident() - before < 8 << 20
