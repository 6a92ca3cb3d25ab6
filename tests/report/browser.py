#!/usr/bin/env python3
"""Opens a report in a headless Chromium as a reader would: no error in the console, nothing from the network, every figure
visible, hover, keys, legend and zoom work, in light and dark, on a phone and on paper; every link of the drawn page leads
somewhere; words of a file are shown and not obeyed; and without JavaScript the page says where the numbers are.

Exit code 77: no Chromium or no python3-websocket here.
usage: browser.py REPORT_DIR PICTURES_DIR
"""

import pathlib
import shutil
import sys

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

    def every_figure_is_live(self):
        """Scrolling brings every figure to life; each has a canvas with ink, a legend, and no drawn picture beside it."""
        js = self.chrome.js
        count = js("document.querySelectorAll('.figure').length")
        self.expect(count > 0, "no figure")
        for i in range(count):
            js(f"document.querySelectorAll('.figure')[{i}].scrollIntoView({{behavior: 'instant'}})")
            self.chrome.wait(f"document.querySelectorAll('.figure')[{i}].classList.contains('live')")
        charts = js("oltrReport.charts.length")
        plots = js("document.querySelectorAll('.plot').length")
        self.expect(charts == plots, f"{plots} plots, {charts} charts")
        for i in range(charts):
            name = js(f"oltrReport.charts[{i}].area.closest('.figure').id")
            js(f"oltrReport.charts[{i}].area.scrollIntoView({{behavior: 'instant'}})")
            box = js(f"(b => [b.width, b.height])(oltrReport.charts[{i}].area.getBoundingClientRect())")
            self.expect(box[0] > 200 and box[1] > 150, f"{name}: the chart is only {box} large")
            self.expect(js(f"{INK}(oltrReport.charts[{i}])") > 500, f"{name}: nothing is drawn")
            self.expect(js(f"{ENDS}(oltrReport.charts[{i}])"), f"{name}: a curve ends outside the chart")
            self.expect(js(f"oltrReport.charts[{i}].entries.length === oltrReport.charts[{i}].data.curves.length"), f"{name}: the legend is short")
        self.expect(js("[...document.querySelectorAll('.live .still')].every(e => getComputedStyle(e).display === 'none')"), "drawn pictures beside live ones")

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

    def fits(self, where):
        width = self.chrome.js("[document.documentElement.scrollWidth, innerWidth]")
        self.expect(width[0] <= width[1], f"{where}: the page is wider than the screen, {width}")

    def paper(self):
        self.chrome.media("light", "print")
        self.expect(self.chrome.js("[...document.querySelectorAll('.figure img')].every(e => e.getBoundingClientRect().height > 100)"), "a figure is missing on paper")
        self.expect(self.chrome.js("[...document.querySelectorAll('.plot')].every(e => getComputedStyle(e).display === 'none')"), "a live chart on paper")
        self.look(".figure", "paper")
        self.chrome.media("light")

    def document(self, report):
        """What the scripts have made is a whole document: links, names, a text in place of each picture, no handlers."""
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
        self.expect(self.chrome.js("document.querySelectorAll('#hostile :is(b:not(.reading), i, img:not(.still), script)').length") == 0, "words of a file became elements")

    def without_javascript(self, url):
        self.chrome.call("Emulation.setScriptExecutionDisabled", value=True)
        self.chrome.call("Page.navigate", url=url)
        self.chrome.wait("document.readyState === 'complete' && document.querySelector('noscript') !== null")
        self.expect(self.chrome.js("typeof oltrReport") == "undefined", "scripts ran although they are off")
        said = self.chrome.js("document.body.innerText")
        self.expect("JavaScript" in said and "Printed against released" not in said, "without JavaScript the page does not say so")
        seen = self.chrome.js("[...document.querySelectorAll('a[href$=csv]')].filter(e => e.getBoundingClientRect().height > 0).map(e => e.getAttribute('href'))")
        self.expect({"results.csv", "summary.csv", "claims.csv"} <= set(seen), f"without JavaScript no links to the tables, only {seen}")
        self.chrome.picture(self.pictures / "no-javascript.png")
        self.chrome.call("Emulation.setScriptExecutionDisabled", value=False)

    def fragment(self, url):
        """A link to a figure leads to it, although the figure is drawn after the page is read."""
        self.chrome.open(url + "#runs")
        self.chrome.wait("Math.abs(document.querySelector('#runs').getBoundingClientRect().bottom) < innerHeight + 200", 5)


def read(reader, report):
    url = (report / "index.html").as_uri()
    chrome = reader.chrome
    chrome.media("light")
    chrome.size(1280, 900)
    chrome.open(url)
    chrome.picture(reader.pictures / "light-top.png")
    reader.document(report)
    reader.order(["noncontextual", "misspecification", "concentration", "hostile"])
    reader.every_figure_is_live()
    reader.hostile_words()
    reader.hover()
    reader.legend()
    reader.zoom_and_keys()
    reader.fits("screen")
    reader.look(".figure", "light")
    colour = "oltrReport.charts[0].graph.getColors().join() + getComputedStyle(document.body).backgroundColor"
    light = chrome.js(colour)
    chrome.media("dark")
    chrome.js("new Promise(done => setTimeout(done, 100))")
    reader.expect(chrome.js(colour) != light, "dark is as light")
    reader.look(".figure", "dark")
    chrome.media("light")
    chrome.size(390, 844, mobile=True, scale=2)
    chrome.js("new Promise(done => setTimeout(done, 200))")
    reader.fits("phone")
    reader.look(".figure", "phone")
    chrome.size(1280, 900)
    reader.paper()
    reader.quiet("with JavaScript")
    reader.fragment(url)
    reader.without_javascript(url)
    reader.quiet("without JavaScript")


def main():
    report, pictures = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
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
        read(reader, report)
    finally:
        chrome.close()
    for fault in reader.faults:
        print(f"browser: {fault}", file=sys.stderr)
    return 1 if reader.faults else 0


if __name__ == "__main__":
    sys.exit(main())
