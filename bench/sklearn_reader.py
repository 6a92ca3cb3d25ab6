#!/usr/bin/env python3
"""Reading a text: the time of scikit-learn's load_svmlight_file over ours, one thread each.

Both are timed in this process, in CPU time and in turn.  Each ratio is taken within a repetition;
the median is printed.  The work is not the same: scikit-learn builds a sparse matrix of float64,
oltr a dense one of float32.  It is what each gives to a program that needs the data.

    sklearn_reader.py LIBOLTR_LAB FILE [--repetitions N] [--strict]
"""
import argparse
import ctypes
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

TARGET = 30


class ReadOptions(ctypes.Structure):
    """oltr_read_options of oltr/sim.h, whole: the library reads all of it."""
    _fields_ = [("threads", ctypes.c_uint32), ("lenient", ctypes.c_int),
                ("most_features", ctypes.c_uint32), ("check_text", ctypes.c_int),
                ("stop", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("reserved", ctypes.c_void_p * 4)]


class Dataset(ctypes.Structure):
    _fields_ = [("n_queries", ctypes.c_uint32), ("n_rows", ctypes.c_uint32),
                ("dim", ctypes.c_uint32), ("query", ctypes.c_void_p),
                ("first_row", ctypes.c_void_p), ("grade", ctypes.c_void_p),
                ("x", ctypes.POINTER(ctypes.c_float)), ("memory", ctypes.c_void_p),
                ("reserved", ctypes.c_void_p * 2)]


def seconds(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("file")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    oltr = ctypes.CDLL(options.library)
    oltr.oltr_dataset_read.restype = ctypes.POINTER(Dataset)
    oltr.oltr_dataset_read.argtypes = [ctypes.c_char_p, ctypes.POINTER(ReadOptions),
                                       ctypes.c_void_p, ctypes.c_void_p]
    oltr.oltr_dataset_free.argtypes = [ctypes.POINTER(Dataset)]
    oltr.oltr_dataset_free.restype = None
    one_thread = ReadOptions(threads=1)

    def ours():
        dataset = oltr.oltr_dataset_read(options.file.encode(), ctypes.byref(one_thread), None,
                                         None)
        if not dataset:
            sys.exit("sklearn_reader.py: our reader failed")
        return dataset

    ratios = []
    for _ in range(options.repetitions):
        mine, dataset = seconds(ours)
        theirs, (x, _, _) = seconds(lambda: load_svmlight_file(options.file, query_id=True))
        d = dataset.contents
        same = np.array_equal(np.ctypeslib.as_array(d.x, (d.n_rows, d.dim)),
                              x.toarray().astype(np.float32))
        oltr.oltr_dataset_free(dataset)
        if not same:
            sys.exit("sklearn_reader.py: the two readers returned different numbers")
        ratios.append(theirs / mine)
    ratio = float(np.median(ratios))
    print("| what | median | target | |\n|---|---|---|---|")
    print(f"| load_svmlight_file / ours, one thread | {ratio:.1f} | >= {TARGET} | "
          f"{'pass' if ratio >= TARGET else '**MISS**'} |")
    return options.strict and ratio < TARGET


if __name__ == "__main__":
    sys.exit(main())
