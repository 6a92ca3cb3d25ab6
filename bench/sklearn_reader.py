#!/usr/bin/env python3
"""How our reader compares with scikit-learn's load_svmlight_file, one thread each, on the same file.

Both are timed in this process, in CPU time and in turn; what is printed is the median of the ratios within repetitions.  sklearn builds a
sparse matrix of float64, ours a dense one of float32: not the same work, but what each of them gives to a program that wants the data.

    sklearn_reader.py LIBOLTR FILE [--repetitions N] [--strict]
"""
import argparse
import ctypes
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

TARGET = 30


class ReadOptions(ctypes.Structure):
    _fields_ = [("threads", ctypes.c_uint32), ("lenient", ctypes.c_int), ("most_features", ctypes.c_uint32)]


class Dataset(ctypes.Structure):
    _fields_ = [("n_queries", ctypes.c_uint32), ("n_rows", ctypes.c_uint32), ("dim", ctypes.c_uint32), ("query", ctypes.c_void_p),
                ("first_row", ctypes.c_void_p), ("grade", ctypes.c_void_p), ("x", ctypes.POINTER(ctypes.c_float)), ("memory", ctypes.c_void_p)]


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
    oltr.oltr_dataset_read.argtypes = [ctypes.c_char_p, ctypes.POINTER(ReadOptions), ctypes.c_void_p, ctypes.c_void_p]
    oltr.oltr_dataset_free.argtypes = [ctypes.POINTER(Dataset)]
    oltr.oltr_dataset_free.restype = None
    one_thread = ReadOptions(1, 0, 0)

    def ours():
        dataset = oltr.oltr_dataset_read(options.file.encode(), ctypes.byref(one_thread), None, None)
        if not dataset:
            sys.exit("sklearn_reader.py: our reader failed")
        return dataset

    ratios = []
    for _ in range(options.repetitions):
        mine, dataset = seconds(ours)
        theirs, (x, _, _) = seconds(lambda: load_svmlight_file(options.file, query_id=True))
        d = dataset.contents
        same = np.array_equal(np.ctypeslib.as_array(d.x, (d.n_rows, d.dim)), x.toarray().astype(np.float32))
        oltr.oltr_dataset_free(dataset)
        if not same:
            sys.exit("sklearn_reader.py: the two have read different numbers")
        ratios.append(theirs / mine)
    ratio = float(np.median(ratios))
    print("| what | median | target | |\n|---|---|---|---|")
    print(f"| load_svmlight_file / ours, one thread | {ratio:.1f} | >= {TARGET} | {'pass' if ratio >= TARGET else '**MISS**'} |")
    return options.strict and ratio < TARGET


if __name__ == "__main__":
    sys.exit(main())
