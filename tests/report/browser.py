#!/usr/bin/env python3
"""Opens a report in a headless Chromium as a reader would: no error in the console, nothing from the network, every figure
visible, hover, keys, names, zoom and the switch of the axis work, in light and dark, on a phone and on paper; every link of the
drawn page leads where it points; words of a file are shown and not obeyed; a page that was sent by mail has no dead link; the
report of other experiments does not speak of the paper; and without JavaScript the page says where the numbers are.

Exit code 77: no Chromium or no python3-websocket here.
usage: browser.py REPORT_DIR OWN_REPORT_DIR PICTURES_DIR
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import check
from chrome import Chrome

# What is drawn on a chart's canvas: how many of its pixels are not the background.
INK = """(chart => {
  let ink = 0;
  for (const c of chart.area.querySelectorAll('canvas')) {
    const copy = Object.assign(document.createElement('canvas'), {width: c.width, height: c.height});
    const context = copy.getContext('2d', {willReadFrequently: true});
    context.drawImage(c, 0, 0);
    const pixels = context.getImageData(0, 0, c.width, c.height).data;
    for (let i = 3; i < pixels.length; i += 4) ink += pixels[i] > 0;
  }
  return ink;
})"""

# Coloured pixels of a chart in the middle fifth of its width, between the columns of two swept words; the grid is grey.
BETWEEN = """(chart => {
  let ink = 0;
  for (const c of chart.area.querySelectorAll('canvas')) {
    const {x, w} = chart.graph.getArea(), scale = c.width / c.clientWidth;
    const pixels = c.getContext('2d').getImageData((x + 0.4 * w) * scale, 0, 0.2 * w * scale, c.height).data;
    for (let i = 0; i < pixels.length; i += 4)
      ink += pixels[i + 3] > 0 && Math.max(...pixels.slice(i, i + 3)) - Math.min(...pixels.slice(i, i + 3)) > 40;
  }
  return ink;
})"""

# Does every curve end inside its chart?  A logarithmic axis must not reach down to zero.
ENDS = """(({graph, data, step, area}) => {
  const row = data.rows[data.rows.length - 1], {width, height} = area.getBoundingClientRect();
  return !(graph.getOptionForAxis('logscale', 'x') && graph.xAxisRange()[0] <= 0) && data.curves.every((curve, i) => {
    const [x, y] = graph.toDomCoords(row[0], row[1 + i * step]);
    return x > 0 && x <= width && y >= 0 && y <= height;
  });
})"""


class Reader:
    def __init__(self, chrome, pictures):
        self.chrome, self.pictures, self.faults = chrome, pictures, []

    def expect(self, good, words):
        if not good:
            self.faults.append(words)

    def look(self, figure, name):
        self.chrome.js(f"document.querySelector('{figure}').scrollIntoView({{behavior: 'instant'}})")
        self.chrome.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.chrome.picture(self.pictures / f"{name}.png")

    def quiet(self, where):
        for trouble in self.chrome.troubles():
            self.faults.append(f"{where}: {trouble}")
        self.chrome.events.clear()

    def top(self):
        """Three sentences, a count of claims and a figure come before all else."""
        js = self.chrome.js
        said = js("[...document.querySelectorAll('#result p')].map(e => e.textContent)")
        self.expect(len(said) == 3 and all(words.endswith(".") and re.search("[0-9]", words) for words in said), f"the result is {said}")
        self.expect(js("document.querySelectorAll('#lead .chart').length") == 1, "no figure on top")
        self.expect(js("document.querySelectorAll('#score .score .verdict').length") > 0, "no count of claims on top")
        self.expect(not js("[...document.querySelectorAll('nav a')].some(a => /fig[:-]/.test(a.textContent))"), "the contents have labels instead of titles")
        self.expect(js("[...document.querySelectorAll('.fold')].every(e => !e.open)"), "the verdicts are not folded")

    def every_figure_is_live(self):
        """Scrolling starts every figure, which changes no height; each has a canvas with ink, all its names, and no picture beside."""
        js = self.chrome.js
        height = js("document.documentElement.scrollHeight")
        count = js("document.querySelectorAll('.stage').length")
        self.expect(count > 1, "no figure")
        for i in range(count):
            js(f"document.querySelectorAll('.stage')[{i}].scrollIntoView({{behavior: 'instant'}})")
            self.chrome.wait(f"document.querySelectorAll('.stage')[{i}].classList.contains('live')")
        after = js("document.documentElement.scrollHeight")
        self.expect(after == height, f"charts change the height of the page from {height} to {after}")
        charts = js("oltrReport.charts.length")
        plots = js("document.querySelectorAll('.plot').length")
        self.expect(charts == plots, f"{plots} plots, {charts} charts")
        for i in range(charts):
            self.chart(i)
        self.expect(js("[...document.querySelectorAll('.still')].every(e => getComputedStyle(e).display === 'none')"), "drawn pictures beside live ones")

    def chart(self, i):
        js, chart = self.chrome.js, f"oltrReport.charts[{i}]"
        name = js(f"({chart}.area.closest('figure').id || 'lead')")
        js(f"{chart}.area.scrollIntoView({{behavior: 'instant'}})")
        box = js(f"(b => [b.width, b.height])({chart}.area.getBoundingClientRect())")
        self.expect(box[0] > 200 and box[1] > 150, f"{name}: the chart is only {box} large")
        self.expect(js(f"{INK}({chart})") > 500, f"{name}: nothing is drawn")
        self.expect(js(f"{ENDS}({chart})"), f"{name}: a curve ends outside the chart")
        self.expect(js(f"{chart}.entries.length === {chart}.data.curves.length"), f"{name}: a curve has no name")
        self.expect(js(f"!{chart}.data.errors || {chart}.axis.textContent.endsWith('± ' + {chart}.data.bands + ' se')"), f"{name}: the bands are not explained")
        boxes = js(f"{chart}.entries.map(e => (b => [b.top, b.bottom])(e.label.getBoundingClientRect())).sort((a, b) => a[0] - b[0])")
        self.expect(all(a[1] <= b[0] + 1 for a, b in zip(boxes, boxes[1:])), f"{name}: names overlap")

    def hover(self):
        """The pointer over a chart shows the values of its round, which are those of the data."""
        js = self.chrome.js
        js("oltrReport.charts[0].area.scrollIntoView({behavior: 'instant', block: 'center'})")
        before = js("oltrReport.charts[0].title.textContent")
        x, y, w, h = js("(b => [b.x, b.y, b.width, b.height])(oltrReport.charts[0].area.getBoundingClientRect())")
        self.chrome.mouse("mouseMoved", x + w * 0.5, y + h * 0.5)
        self.chrome.mouse("mouseMoved", x + w * 0.52, y + h * 0.5)
        after = js("oltrReport.charts[0].title.textContent")
        self.expect(after != before, f"hovering changes nothing: {before}, {after}")
        same = js("""(c => { const r = c.data.rows[c.row];
            return c.row >= 0 && c.title.textContent.includes(r[0].toLocaleString('en')) &&
                c.entries.every((e, i) => Math.abs(parseFloat(e.value.textContent) - r[1 + 2 * i]) <= 0.051) })(oltrReport.charts[0])""")
        self.expect(same, "hovering shows other values than the data has")
        self.chrome.picture(self.pictures / "hover.png")
        self.chrome.mouse("mouseMoved", 2, 2)

    def legend(self):
        """A click on a box takes its curve away, another brings it back; so do the space bar, All and None."""
        js, click = self.chrome.js, lambda what: self.chrome.js(f"oltrReport.charts[0].{what}.click()")
        full = js(f"{INK}(oltrReport.charts[0])")
        click("entries[0].input")
        self.expect(js("oltrReport.charts[0].graph.visibility()[0]") is False, "the legend does not hide a curve")
        self.expect(js(f"{INK}(oltrReport.charts[0])") != full, "a hidden curve is still drawn")
        js("oltrReport.charts[0].entries[0].input.focus()")
        self.chrome.call("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ")
        self.chrome.call("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space")
        self.expect(js("oltrReport.charts[0].graph.visibility()[0]") is True, "the space bar does not bring a curve back")
        js("[...oltrReport.charts[0].area.parentNode.querySelectorAll('button')].find(b => b.textContent === 'None').click()")
        self.expect(js("oltrReport.charts[0].graph.visibility().every(v => !v)"), "None leaves curves")
        js("[...oltrReport.charts[0].area.parentNode.querySelectorAll('button')].find(b => b.textContent === 'All').click()")
        self.expect(js("oltrReport.charts[0].graph.visibility().every(v => v)"), "All leaves curves out")

    def zoom_and_keys(self):
        js = self.chrome.js
        width = "(r => r[1] - r[0])(oltrReport.charts[0].graph.xAxisRange())"
        whole = js(width)
        js("oltrReport.charts[0].area.focus()")
        self.chrome.key("ArrowRight")
        self.chrome.key("ArrowRight")
        self.expect(js("oltrReport.charts[0].row") == 1, "arrow keys do not read values")
        self.chrome.key("+")
        self.expect(js(width) < whole * 0.6, "the plus key does not zoom")
        self.expect(js("oltrReport.charts[0].reset.disabled") is False, "zoomed, and no way back")
        js("oltrReport.charts[0].reset.click()")
        self.chrome.wait(f"Math.abs({width} - {whole}) < {whole} * 0.01", 5)
        x, y, w, h = js("(b => [b.x, b.y, b.width, b.height])(oltrReport.charts[0].area.getBoundingClientRect())")
        self.chrome.mouse("mousePressed", x + w * 0.3, y + h * 0.5, button="left", clickCount=1)
        self.chrome.mouse("mouseMoved", x + w * 0.6, y + h * 0.5, button="left", buttons=1)
        self.chrome.mouse("mouseReleased", x + w * 0.6, y + h * 0.5, button="left", clickCount=1)
        self.expect(js(width) < whole * 0.6, "dragging does not zoom")
        self.chrome.key("Escape")
        js("oltrReport.charts[0].zoomOut()")

    def axis_switch(self):
        """The button makes the y axis logarithmic and linear again."""
        js, log = self.chrome.js, "oltrReport.charts[0].graph.getOption('logscale')"
        before = js(log)
        js("oltrReport.charts[0].scaleButton.click()")
        self.expect(js(log) != before and js("oltrReport.charts[0].graph.yAxisRange()[0]") >= 0, "the axis does not switch")
        self.expect(js(f"{ENDS}(oltrReport.charts[0])"), "a curve leaves the chart when the axis switches")
        js("oltrReport.charts[0].scaleButton.click()")
        self.expect(js(log) == before, "the axis does not switch back")

    def fits(self, where):
        """Nothing is wider than the screen, nothing is cut off; only wide tables scroll by themselves."""
        width = self.chrome.js("[document.documentElement.scrollWidth, innerWidth]")
        self.expect(width[0] <= width[1], f"{where}: the page is wider than the screen, {width}")
        cut = self.chrome.js("""[...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, .chart, .skip, svg, script') && !(e.matches('.name') && e.closest('[title]')) &&
            (e.getBoundingClientRect().right > innerWidth + 1 || (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden')))
            .map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40))""")
        self.expect(not cut, f"{where}: cut off: {cut[:5]}")

    def verdicts_first(self, expected, where):
        first = self.chrome.js("""[...document.querySelectorAll('.figure .verdicts')].every(v =>
            (v.getBoundingClientRect().top < v.closest('.figure').querySelector('.stage').getBoundingClientRect().top) === %s)""" % str(expected).lower())
        self.expect(first, f"{where}: the verdicts are not {'above' if expected else 'below'} the charts")

    def footer(self):
        self.chrome.js("scrollTo({top: 1e9, behavior: 'instant'})")
        over = self.chrome.js("document.querySelector('nav').getBoundingClientRect().bottom - document.querySelector('footer').getBoundingClientRect().top")
        self.expect(over <= 1, f"the navigation covers {over} pixels of the footer")

    def pictures_loaded(self):
        self.chrome.wait("[...document.querySelectorAll('.still')].every(e => e.complete && e.naturalWidth > 0)")

    def paper(self):
        self.pictures_loaded()
        self.chrome.media("light", "print")
        self.expect(self.chrome.js("[...document.querySelectorAll('.figure img')].every(e => e.getBoundingClientRect().height > 100)"), "a figure is missing on paper")
        self.expect(self.chrome.js("[...document.querySelectorAll('.plot')].every(e => getComputedStyle(e).display === 'none')"), "a live chart on paper")
        self.look(".figure", "paper")
        self.chrome.media("light")

    def document(self, report):
        """What the scripts have made is a whole document: links, names, a text in place of each picture, no handlers."""
        self.pictures_loaded()
        faults, page = check.check_document(report, self.chrome.js("document.documentElement.outerHTML"))
        self.faults += faults
        for figure in page.figures:
            self.expect(figure["plots"] > 0, f"{figure['id']}: no plot")
            self.expect(figure["alt"] and len(figure["alt"]) >= 40, f"{figure['id']}: no text in place of the picture")
        self.expect(self.chrome.js("document.querySelector('#failure').hidden"), "the page says that it could not be drawn")

    def order(self, names):
        """The experiments are in the order of report.json."""
        found = self.chrome.js("[...document.querySelectorAll('.experiment')].map(e => e.id)")
        self.expect(found == names, f"experiments {found}, expected {names}")

    def hostile_words(self):
        """Markup in a title, a label, a caption, a claim is shown letter by letter (browser.sh has the file)."""
        words = self.chrome.js("document.querySelector('#hostile').innerText")
        for shown in ("</script><script>obeyed = 1</script>", "<!-- <script> \u2028 title", "<img src=x onerror='obeyed = 1'>", "<b>bold</b> & \"quoted\"", "<b>4</b>"):
            self.expect(shown in words, f"not shown: {shown}")
        self.expect(self.chrome.js("typeof obeyed") == "undefined", "words of a file were obeyed")
        self.expect(self.chrome.js("document.querySelectorAll('#hostile :is(b:not(.reading), i:not(summary > i), img:not(.still), script)').length") == 0, "words of a file became elements")

    def without_javascript(self, url):
        self.chrome.call("Emulation.setScriptExecutionDisabled", value=True)
        self.chrome.call("Page.navigate", url=url)
        self.chrome.wait("document.readyState === 'complete' && document.querySelector('noscript') !== null")
        self.expect(self.chrome.js("typeof oltrReport") == "undefined", "scripts ran although they are off")
        said = self.chrome.js("document.body.innerText")
        self.expect("JavaScript" in said and "Printed against released" not in said, "without JavaScript the page does not say so")
        self.expect("results.csv" in said and "claims.csv" in said, "without JavaScript the page does not name the tables")
        self.chrome.picture(self.pictures / "no-javascript.png")
        self.chrome.call("Emulation.setScriptExecutionDisabled", value=False)

    def deep_links(self, url, where, step=1):
        """A link to a part of the page leads to it, although charts are drawn after the page is read."""
        targets = self.chrome.js("[...new Set([...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href')))]")
        self.expect(len(targets) > 8, f"only {len(targets)} links inside the page")
        for target in targets[::step]:
            self.chrome.call("Page.navigate", url="about:blank")
            self.chrome.open(url + target)
            self.chrome.wait("[...document.querySelectorAll('.stage')].filter(e => (b => b.bottom > 0 && b.top < innerHeight)(e.getBoundingClientRect())).every(e => e.classList.contains('live'))")
            off = self.chrome.js(f"""(e => scrollY + innerHeight >= document.documentElement.scrollHeight - 2 && e.getBoundingClientRect().top >= 0 ? 0 :
                e.getBoundingClientRect().top - parseFloat(getComputedStyle(e).scrollMarginTop))(document.getElementById('{target[1:]}'))""")
            self.expect(abs(off) <= 2, f"{where}: {target} misses by {off} pixels")

    def by_mail(self, report):
        """The file alone, in an empty folder: no dead links; charts, data and pictures come out of it."""
        with tempfile.TemporaryDirectory() as empty:
            shutil.copy(report / "index.html", empty)
            self.chrome.open(pathlib.Path(empty, "index.html").as_uri())
            js = self.chrome.js
            js("new Promise(done => setTimeout(done, 300))")
            dead = js("[...document.querySelectorAll('a')].filter(a => a.getClientRects().length > 0 && !/^(#|https:)/.test(a.getAttribute('href'))).map(a => a.href)")
            self.expect(not dead, f"by mail: dead links {dead}")
            js("oltrReport.startAll()")
            self.expect(js(f"oltrReport.charts.every(c => {INK}(c) > 500)"), "by mail: a chart is empty")
            js("window.saved = []; URL.createObjectURL = blob => { blob.text().then(t => saved.push(t)); return '#' }")
            js("document.querySelectorAll('.figure .files .link').forEach(b => b.click())")
            count = js("document.querySelectorAll('.figure .files .link').length")
            self.chrome.wait(f"saved.length === {count}")
            self.expect(js("saved.filter(t => /^<\\?xml[^]*<\\/svg>\\s*$/.test(t)).length * 2 === saved.length"), "by mail: not every figure has its SVG")
            self.expect(js("saved.filter(t => !t.startsWith('<')).every(t => t.split('\\n').length > 3)"), "by mail: not every figure has its data")
        self.chrome.events = [e for e in self.chrome.events if "ERR_FILE_NOT_FOUND" not in json.dumps(e)]  # the probe for the folder

    def own_report(self, own):
        """The report of other experiments is the same page, without the words about the paper."""
        self.chrome.open((own / "index.html").as_uri())
        said = self.chrome.js("document.body.innerText + document.title")
        self.expect("paper" not in said.lower() and "arxiv" not in self.chrome.js("document.body.innerHTML.split('<script')[0]").lower(), "a report of other experiments speaks of the paper")
        self.expect(self.chrome.js("document.querySelectorAll('#result p').length") >= 1, "no result on top of a report of other experiments")
        self.expect(self.chrome.js("document.querySelectorAll('#lead .chart').length") == 1, "no figure on top of a report of other experiments")
        self.chrome.picture(self.pictures / "own.png")
        self.words_apart()

    def words_apart(self):
        """Swept words have no order: their points are not joined, and each is at the place of its curve."""
        js, chart = self.chrome.js, "oltrReport.charts.find(c => c.data.title === 'Two click models')"
        js("oltrReport.startAll()")
        self.expect(js(f"{INK}({chart}) > 500"), "swept words: nothing is drawn")
        self.expect(js(f"{BETWEEN}({chart})") == 0, "swept words are joined by lines")
        self.expect(js(f"{BETWEEN}(oltrReport.charts.find(c => !c.data.shifts))") > 0, "no line between rounds")
        apart = js(f"(c => c.shift(c.graph, 'random') - c.shift(c.graph, 'gts'))({chart})")
        self.expect(apart > 10, f"swept words: two points are only {apart} pixels apart")
        js(f"{chart}.area.scrollIntoView({{behavior: 'instant', block: 'center'}})")
        self.chrome.picture(self.pictures / "words.png")


def phone(reader, url):
    chrome = reader.chrome
    chrome.size(390, 844, mobile=True, scale=2)
    chrome.open(url)
    chrome.js("oltrReport.startAll()")
    chrome.js("document.querySelectorAll('details').forEach(d => { d.open = true })")
    chrome.js("new Promise(done => setTimeout(done, 200))")
    reader.fits("phone")
    reader.verdicts_first(True, "phone")
    chrome.open(url)
    chrome.picture(reader.pictures / "phone-top.png")
    reader.look(".figure", "phone")
    reader.deep_links(url, "phone", 3)
    chrome.size(1280, 900)


def read(reader, report, own):
    url = (report / "index.html").as_uri()
    chrome = reader.chrome
    chrome.media("light")
    chrome.size(1280, 900)
    chrome.open(url)
    chrome.picture(reader.pictures / "light-top.png")
    reader.top()
    reader.document(report)
    reader.order(["noncontextual", "misspecification", "concentration", "hostile"])
    reader.every_figure_is_live()
    reader.hostile_words()
    reader.hover()
    reader.legend()
    reader.zoom_and_keys()
    reader.axis_switch()
    reader.fits("screen")
    reader.verdicts_first(False, "screen")
    reader.footer()
    reader.look(".figure", "light")
    colour = "oltrReport.charts[0].graph.getColors().join() + getComputedStyle(document.body).backgroundColor"
    light = chrome.js(colour)
    chrome.media("dark")
    chrome.js("new Promise(done => setTimeout(done, 100))")
    reader.expect(chrome.js(colour) != light, "dark is as light")
    reader.look(".figure", "dark")
    chrome.media("light")
    reader.paper()
    reader.quiet("with JavaScript")
    reader.deep_links(url, "screen")
    phone(reader, url)
    reader.by_mail(report)
    reader.own_report(own)
    reader.quiet("other pages")
    reader.without_javascript(url)
    reader.quiet("without JavaScript")


def main():
    report, own, pictures = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("skipped: no chromium")
        return 77
    try:
        import websocket  # noqa: F401
    except ImportError:
        print("skipped: no python3-websocket")
        return 77
    pictures.mkdir(parents=True, exist_ok=True)
    chrome = Chrome(program)
    try:
        reader = Reader(chrome, pictures)
        read(reader, report, own)
    finally:
        chrome.close()
    for fault in reader.faults:
        print(f"browser: {fault}", file=sys.stderr)
    return 1 if reader.faults else 0


if __name__ == "__main__":
    sys.exit(main())
