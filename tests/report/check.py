#!/usr/bin/env python3
"""Checks a report without a browser: the static page and page.json, which draws it, are whole; every figure has its data, its
picture and its files; nothing comes from the network; and summary.tex is a set of whole tables.
check_document() checks HTML: the static page here, and in browser.py the document that the scripts have made of it.

usage: check.py REPORT_DIR
"""

import base64
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 2_000_000  # of a page that is sent by mail
VOID = {"meta", "link", "img", "br", "hr", "input"}
ABROAD = {"https://arxiv.org/abs/2301.10651"}  # the paper itself; a link, never a thing the page needs


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.links, self.figures, self.faults = [], [], [], [], []
        self.inside, self.data = False, ""

    def fault(self, words):
        self.faults.append(f"line {self.getpos()[0]}: {words}")

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "figure":
            self.figures.append({"id": attrs.get("id"), "plots": 0, "alt": None})
        if tag == "img":
            if not (attrs.get("src") or "").startswith("data:image/svg+xml,"):
                self.fault("a picture that is not in the page")
            if self.figures:
                self.figures[-1]["alt"] = attrs.get("alt")
        if "plot" in (attrs.get("class") or "").split():
            self.figures[-1]["plots"] += 1
        for key in ("href", "src"):
            if attrs.get(key) and not attrs[key].startswith("data:"):
                self.links.append((self.getpos()[0], tag, attrs[key]))
        if any(key.startswith("on") for key in attrs):
            self.fault(f"<{tag}> has a handler in its attributes")
        if tag not in VOID:
            self.stack.append(tag)
        self.inside = tag == "script" and attrs.get("type") == "application/json"

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.fault(f"</{tag}> closes nothing")
        self.inside = False

    def handle_data(self, data):
        self.data += data if self.inside else ""


def check_links(folder, page):
    faults = []
    for line, tag, link in page.links:
        if tag != "a":
            faults.append(f"line {line}: <{tag}> loads {link}")
        elif link.startswith("#"):
            if link[1:] not in page.ids:
                faults.append(f"line {line}: {link} leads nowhere")
        elif "://" in link:
            if link not in ABROAD:
                faults.append(f"line {line}: a strange link, {link}")
        else:
            file = folder / urllib.parse.unquote(link)
            if not file.is_file() or file.stat().st_size == 0:
                faults.append(f"line {line}: {link} is missing or empty")
    return faults


def check_document(folder, text):
    """Faults of a document, and the parsed page."""
    page = Page()
    page.feed(text)
    page.close()
    faults = page.faults + check_links(folder, page)
    faults += [f"{i} is the name of two elements" for i in set(page.ids) if page.ids.count(i) > 1]
    faults += [f"<{tag}> is never closed" for tag in page.stack]
    return faults, page


def check_plot(name, plot):
    faults = []
    width = 1 + len(plot["curves"]) * (2 if plot["errors"] else 1)
    if len(plot["rows"]) < 2 or not plot["curves"]:
        faults.append(f"{name}: an empty plot")
    if any(len(row) != width for row in plot["rows"]):
        faults.append(f"{name}: rows of different lengths")
    if any(value is None for value in plot["rows"][-1]):
        faults.append(f"{name}: a curve without an end")
    if any(not re.fullmatch(r"#[0-9A-F]{6}", c["colour"]) for c in plot["curves"]):
        faults.append(f"{name}: a curve without a colour")
    return faults


def lines(tree):
    """The points of every path, as complex numbers."""
    paths = [re.findall(r"([-0-9.]+),([-0-9.]+)", e.get("d")) for e in tree.iter(SVG + "path") if e.get("d")]
    return [[complex(float(x), float(y)) for x, y in points] for points in paths]


def distance(p, a, b):
    """Of a point from a segment."""
    along = ((p - a) * (b - a).conjugate()).real / abs(b - a) ** 2 if a != b else 0
    return abs(p - a - (b - a) * min(1, max(0, along)))


def same_lines(picture, whole):
    """Does every point of the file lie on the thinned line, but for a fifth of a pixel?"""
    thin, full = lines(picture), lines(whole)
    return len(thin) == len(full) and all(
        min(distance(p, a, b) for a, b in zip(few, few[1:] or few)) < 0.2
        for few, many in zip(thin, full) for p in many[::7])


def check_figure(folder, experiment, figure, drawn):
    name = f"{experiment}-{figure['file']}"
    if not drawn or not drawn["plots"]:
        return [f"{name}: no data or no picture"]
    try:
        picture = xml.etree.ElementTree.fromstring(zlib.decompress(base64.b64decode(drawn["svg"])))
    except (ValueError, zlib.error, xml.etree.ElementTree.ParseError) as trouble:
        return [f"{name}: the picture is broken: {trouble}"]
    whole = xml.etree.ElementTree.parse(folder / experiment / f"{figure['file']}.svg").getroot()
    if [e.text for e in picture.iter(SVG + "text")] != [e.text for e in whole.iter(SVG + "text")]:
        return [f"{name}: the picture in the page has other words than the file"]
    if not same_lines(picture, whole):
        return [f"{name}: the picture in the page has other lines than the file"]
    faults = [fault for plot in drawn["plots"] for fault in check_plot(name, plot)]
    for ending in ("csv", "svg", "pdf", "png", "gp"):
        file = folder / experiment / f"{figure['file']}.{ending}"
        if not file.is_file() or file.stat().st_size == 0:
            faults.append(f"{file} is missing or empty")
    return faults


def check_colours(experiments):
    """A policy has one colour on the whole page, and curves of one plot differ in colour or dash."""
    faults, seen = [], {}
    for plot in (plot for e in experiments for drawn in e["figures"] if drawn for plot in drawn["plots"]):
        looks = [(c["colour"], json.dumps(c["dash"])) for c in plot["curves"]]
        if len(set(looks)) != len(looks):
            faults.append(f"{plot['title']}: two curves look alike")
        for curve in plot["curves"]:
            if seen.setdefault(curve["name"], curve["colour"]) != curve["colour"]:
                faults.append(f"{curve['name']} has two colours")
    return faults


def check_page(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    faults, page = check_document(folder, text)
    if page.data != (folder / "page.json").read_text(encoding="utf-8"):
        faults.append("page.json is not the data in the page")
    wanted, count = sum(len(json.loads(p.read_text())["figures"]) for p in folder.glob("*/manifest.json")), 0
    for experiment in json.loads(page.data)["experiments"]:
        run = experiment.get("run", {"figures": [], "claims": []})
        if [len(tests) for tests in experiment["findings"]] != [len(claim["tests"]) for claim in run["claims"]]:
            faults.append(f"{experiment['name']}: not a finding for each test")
        for figure, drawn in zip(run["figures"], experiment["figures"], strict=True):
            faults += check_figure(folder, experiment["name"], figure, drawn)
            count += 1
    if count != wanted or wanted == 0:
        faults.append(f"{count} figures in the page, {wanted} in the folders")
    if len(text.encode()) > MOST_BYTES:
        faults.append(f"the page has {len(text.encode())} bytes, more than {MOST_BYTES}")
    faults += check_colours(json.loads(page.data)["experiments"])
    for words in ("Permission is hereby granted", "prefers-color-scheme: dark", "@media print", "<noscript>"):
        if words not in text:
            faults.append(f"the page lacks `{words}`")
    return faults


def check_latex(folder):
    text = (folder / "summary.tex").read_text(encoding="utf-8")
    faults = []
    for table in re.findall(r"\\begin\{tabular\}\{(l?r*)\}(.*?)\\end\{tabular\}", text, re.S):
        rows = [r for r in table[1].split("\\\\\n") if "&" in r]
        if len(rows) < 2 or any(len(re.findall(r"(?<!\\)&", r)) != len(table[0]) - 1 for r in rows):
            faults.append("summary.tex: a table whose rows do not fit its columns")
    if text.count("\\begin{") != text.count("\\end{") or "\\toprule" not in text:
        faults.append("summary.tex: an environment that is not closed, or no table at all")
    if shutil.which("pdflatex") and not faults:
        with tempfile.TemporaryDirectory() as work:
            pathlib.Path(work, "t.tex").write_text(
                "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}\\begin{document}\n" + text + "\\end{document}\n")
            run = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=work, capture_output=True)
            if run.returncode != 0:
                faults.append("summary.tex: pdflatex refuses it: " + run.stdout.decode(errors="replace")[-600:])
    return faults


def main():
    folder = pathlib.Path(sys.argv[1])
    faults = check_page(folder) + check_latex(folder)
    for fault in faults:
        print(f"{folder}: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
