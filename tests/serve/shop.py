"""shop.py - the example shop in a real browser: examples/shop/run with a port of its own, headless Chromium.

The list is there; a click, a key and a click whose answer was lost teach the ranker one lesson each; with visitors on
the lists get better; every button does what it says; nothing jumps, nothing is cut off, no error is in the console, no
request leaves the machine.  The server refuses bad requests with a sentence, has no other files, and listens on the
loopback only.  Pictures of the page are written to WORK_DIR.

Exit code 77: no Chromium, redis-server, python3-redis or python3-websocket here.
usage: OLTR_MODULE=oltr.so shop.py WORK_DIR
"""

import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUN = SOURCE / "examples/shop/run"
LISTS = 1500  # of simulated visitors, until the lists must have become better
SLOTS, PRODUCTS = 6, 24


def skip_without():
    for program in ("chromium", "redis-server"):
        if not shutil.which(program):
            print(f"skipped: no {program}")
            sys.exit(77)
    for module, package in (("redis", "python3-redis"), ("websocket", "python3-websocket")):
        try:
            __import__(module)
        except ImportError:
            print(f"skipped: no {package}")
            sys.exit(77)


# A shell starts its background jobs with SIGINT ignored, which the program would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Process:
    """examples/shop/run, until `interrupt`."""

    def __init__(self, *options):
        command = [RUN, "--module", os.environ["OLTR_MODULE"], *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = ""

    def until(self, pattern, seconds=60):
        """Reads its output up to a line that matches; the first group."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.said)):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 4096) if ready else b""  # a buffer would hide lines from select
            if not data:
                raise RuntimeError(f"no line with {pattern}, but: {self.said}")
            self.said += data.decode()
        return found.group(1)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=30)
        return self.process.returncode, self.said + rest

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()


class Test:
    def __init__(self, pictures):
        import redis

        self.pictures, self.faults = pictures, []
        self.shop = Process()
        try:
            self.socket = self.shop.until(r"redis-cli -s (\S+) ")
            self.address = self.shop.until(r"(http://127\.0\.0\.1:\d+/)")
        except RuntimeError:
            self.shop.end()
            raise
        self.port = int(re.search(r":(\d+)/", self.address).group(1))
        self.redis = redis.Redis(unix_socket_path=self.socket)

    def expect(self, good, words):
        if not good:
            self.faults.append(words)

    def same(self, found, wanted, words):
        self.expect(found == wanted, f"{words}: {found}, not {wanted}")

    # ---- what the ranker knows, asked without the shop

    def map_of(self, *command):
        reply = self.redis.execute_command(*command)
        return {name.decode(): value for name, value in zip(reply[::2], reply[1::2])}

    def lessons(self):
        return self.map_of("OLTR.INFO", "shop")["lessons"]

    def seen(self, ids):
        """(examined, reward) of products."""
        replies = self.redis.execute_command("OLTR.EXPLAIN", "shop", "ITEMS", len(ids), *ids)
        maps = [{name.decode(): value for name, value in zip(r[::2], r[1::2])} for r in replies]
        return [(float(m["examined"]), float(m["reward"])) for m in maps]

    # ---- the server

    def request(self, method, path, body=None, host=None, kind="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True)
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            if body is not None:
                connection.putheader("Content-Type", kind)
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body.encode() if body is not None else None)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def state(self):
        return json.loads(self.request("GET", "/api/state")[1])

    def refusals(self):
        """Status and a word of the sentence."""
        list_id, shown = "x1", ["fern-vase", "rose-bowl"]
        click = lambda **more: json.dumps({"id": list_id, "shown": shown, "clicked": 1, **more})
        post = lambda path, body, **more: ("POST", path, body, more)
        before = self.state()
        for status, word, (method, path, body, more) in [
            (400, "not JSON", post("/api/click", "{")),
            (400, "not JSON", post("/api/click", "[" * 4000)),
            (400, "1 to 4096 bytes", post("/api/click", "")),
            (400, "1 to 4096 bytes", post("/api/click", " " * 200000)),
            (400, "JSON object", post("/api/click", "[1]")),
            (400, "application/json", post("/api/click", click(), kind="text/plain")),
            (400, "'id'", post("/api/click", "{}")),
            (400, "'id'", post("/api/click", click(id=""))),
            (400, "'id'", post("/api/click", click(id="a" * 65))),
            (400, "'id'", post("/api/click", click(id="a b"))),
            (400, "'id'", post("/api/click", click(id=7))),
            (400, "'shown'", post("/api/click", click(shown=[]))),
            (400, "'shown'", post("/api/click", click(shown=["fern-vase", "fern-vase"]))),
            (400, "'shown'", post("/api/click", click(shown=["tin-can"]))),
            (400, "'shown'", post("/api/click", click(shown=[["fern-vase"]]))),
            (400, "'shown'", post("/api/click", click(shown="fern-vase"))),
            (400, "'clicked'", post("/api/click", click(clicked=-1))),
            (400, "'clicked'", post("/api/click", click(clicked=7))),
            (400, "'clicked'", post("/api/click", click(clicked=True))),
            (400, "'clicked'", post("/api/click", click(clicked=1.0))),
            (400, "position 3 of a list with 2", post("/api/click", click(clicked=3))),
            (400, "Unknown name 'more'", post("/api/click", click(more=1))),
            (400, "'on'", post("/api/visitors", '{"on": 1, "speed": 25}')),
            (400, "'speed'", post("/api/visitors", '{"on": true, "speed": 51}')),
            (400, "'id'", post("/api/forget", "{}")),
            (400, "takes none", post("/api/restart", '{"now": 1}')),
            (400, "'visitor'", ("GET", "/api/list", None, {})),
            (400, "'visitor'", ("GET", "/api/list?visitor=%0d%0a", None, {})),
            (400, "name=value", ("GET", "/api/list?visitor", None, {})),
            (400, "Open the shop as", ("GET", "/", None, {"host": f"shop.example:{self.port}"})),
            (400, "Open the shop as", post("/api/restart", "{}", host="127.0.0.1")),
            (404, "no POST /api/state", post("/api/state", "{}")),
            (404, "no GET /api/click", ("GET", "/api/click", None, {})),
            *((404, "There is no GET", ("GET", path, None, {})) for path in
              ("/web.py", "/run", "/README.md", "/../web.py", "/%2e%2e/web.py", "//etc/passwd", "/../../../../etc/passwd", "/style.css/", "/[")),
        ]:
            got, words = self.request(method, path, body, **more)
            self.expect(got == status and word in json.loads(words).get("error", ""), f"{method} {path} {body and body[:60]}: {got} {words[:200]}")
        after = self.state()
        self.same([after[n] for n in ("lessons", "on", "speed")], [before[n] for n in ("lessons", "on", "speed")], "refused requests changed something")

    def loopback(self):
        """Every socket of the web server listens on 127.0.0.1, and the Redis server has no port."""
        rows = [line.split() for name in ("/proc/net/tcp", "/proc/net/tcp6") for line in pathlib.Path(name).read_text().splitlines()[1:]]
        bound = [row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == self.port]
        local = {"0100007F" if sys.byteorder == "little" else "7F000001"}
        self.same(set(bound), local, "listens on")
        self.same(self.redis.config_get("port"), {"port": "0"}, "the Redis server listens on a port")

    def same_id_twice(self):
        before, body = self.lessons(), json.dumps({"id": "twice", "shown": ["fern-vase", "rose-bowl"], "clicked": 2})
        answers = [json.loads(self.request("POST", "/api/click", body)[1]) for _ in range(2)]
        self.same([a["counted"] for a in answers], [True, False], "the same id twice")
        self.same(self.lessons(), before + 1, "lessons after the same id twice")

    def messages(self):
        """What goes wrong at the start is said in a sentence."""
        for options, words in ((["--port", str(self.port)], f"The port {self.port} cannot be used"), (["--port", "70000"], "The port 70000 cannot be used"),
                               (["--module", "no.so"], "There is no module no.so"), (["--module", str(RUN)], "The Redis server did not start")):
            process = Process(*options)
            try:
                said, _ = process.process.communicate(timeout=60)
                self.expect(process.process.returncode == 1 and words in said and "Traceback" not in said, f"{options}: {said}")
            finally:
                process.end()

    # ---- the page

    def open(self):
        from chrome import Chrome

        self.chrome = Chrome(shutil.which("chromium"), 1400, 1000)
        self.js, self.wait = self.chrome.js, self.chrome.wait
        self.chrome.size(1400, 1000)
        self.visit_page()

    def visit_page(self):
        self.chrome.open(self.address)
        self.wait("document.body.dataset.ready === 'yes'")

    def list(self):
        return self.js("[...document.querySelectorAll('#cards button')].map(b => b.dataset.product)")

    def rows(self):
        return self.js("[...document.querySelectorAll('#rows li')].map(r => r.dataset.product)")

    def boxes(self):
        """Where everything of a fixed size is: it must stay there."""
        return self.js("['list', 'cards', 'said', 'visitors', 'switch', 'chart', 'belief', 'rows', 'figures', 'axis'].map(id => { const b = document.getElementById(id)"
                       ".getBoundingClientRect(); return [id, b.x, b.y + scrollY, b.width, b.height].map(v => typeof v === 'number' ? Math.round(v) : v) })")

    def after_lessons(self, wanted, what):
        """Waits until the page shows so many lessons; the ranker must have as many."""
        self.wait(f"document.getElementById('lessons').textContent === '{wanted:,}'", 30)
        self.same(self.lessons(), wanted, f"lessons after {what}")

    def wait_for_new_list(self):
        self.wait("!document.querySelector('#cards .clicked')", 30)

    def first_look(self):
        shown, rows = self.list(), self.rows()
        self.expect(len(set(shown)) == SLOTS and set(shown) <= set(rows), f"the list is {shown}")
        self.expect(len(set(rows)) == PRODUCTS, f"the rows are {rows}")
        self.same(self.js("[...document.querySelectorAll('#cards svg, #rows svg')].filter(s => s.getBoundingClientRect().height > 15).length"), SLOTS + PRODUCTS, "pictures")
        self.same(set(self.js("[...document.querySelectorAll('#rows .in-list')].map(r => r.dataset.product)")), set(shown), "marked as in the list")
        self.same(self.js("""[...document.querySelectorAll('#rows .scale')].filter(s => { const outer = s.parentNode.getBoundingClientRect();
            return ['range', 'mean', 'prior'].every(n => { const b = s.querySelector('.' + n).getBoundingClientRect();
              return b.width > 3 && b.left >= outer.left - 2 && b.right <= outer.right + 2 && b.top >= outer.top && b.bottom <= outer.bottom }) }).length"""),
            PRODUCTS, "rows whose marks are on their scale")
        self.same(self.js("getComputedStyle(document.querySelector('#rows .truth')).opacity"), "0", "true rates without visitors are shown at opacity")
        sentences = re.findall(r"\w[^.]*\.", self.js("document.getElementById('explanation').textContent"))
        self.same(len(sentences), 2, "sentences that explain the page")

    def click(self):
        """A click on the third product: three were seen, one was clicked."""
        shown, before = self.list(), self.lessons()
        seen = self.seen(shown)
        x, y = self.js("(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelectorAll('#cards button')[2].getBoundingClientRect())")
        self.chrome.mouse("mouseMoved", x, y)
        self.chrome.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.chrome.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.after_lessons(before + 1, "a click")
        more = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(self.seen(shown), seen)]
        self.same(more, [(1, 0), (1, 0), (1, 1), (0, 0), (0, 0), (0, 0)], "what the ranker learned from the click")
        self.wait("document.getElementById('said').textContent.includes('the 2 above it')")
        self.wait_for_new_list()

    def double_click(self):
        before = self.lessons()
        self.js("(b => { b[0].click(); b[0].click(); b[4].click() })(document.querySelectorAll('#cards button'))")
        self.wait("document.getElementById('said').textContent.includes('the same id counts once')", 30)
        self.after_lessons(before + 1, "three clicks on one list")
        self.wait_for_new_list()

    def lost_answer(self):
        """The server learns, its answer is lost, the page sends the lesson again: it counts once."""
        before = self.lessons()
        self.js("""(real => { let lost = 0; window.sent = [];
            window.fetch = async (path, request) => { const answer = await real(path, request);
              if (path === '/api/click') { sent.push(JSON.parse(request.body).id); if (lost++ < 2) throw new TypeError('lost') }
              return answer };
            window.restoreFetch = () => { window.fetch = real } })(window.fetch)""")
        self.js("document.querySelectorAll('#cards button')[1].click()")
        self.wait("sent.length === 3", 30)
        self.after_lessons(before + 1, "a lesson that was sent three times")
        self.same(self.js("new Set(sent).size"), 1, "ids of a lesson that was sent three times")
        self.js("restoreFetch()")
        self.wait_for_new_list()

    def keys(self):
        """The tab key reaches every control; Enter on a product is a click."""
        before = self.lessons()
        self.js("document.querySelector('#cards button').focus()")
        self.chrome.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
        self.chrome.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
        self.after_lessons(before + 1, "the Enter key")
        self.wait_for_new_list()
        self.js("document.activeElement.blur()")
        reached = set()
        for _ in range(20):
            self.chrome.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            self.chrome.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            reached.add(self.js("document.activeElement.id || document.activeElement.dataset.product || document.activeElement.name || ''"))
        missing = {"none", "next", "switch", "speed", "tastes", "forget", "restart", *self.list()} - reached
        self.expect(not missing, f"the tab key does not reach {missing}")
        self.js("document.activeElement.blur()")

    def nothing(self):
        shown, before = self.list(), self.lessons()
        seen = self.seen(shown)
        self.js("document.getElementById('none').click()")
        self.after_lessons(before + 1, "a list without a click")
        more = [(a[0] - b[0], a[1] - b[1]) for a, b in zip(self.seen(shown), seen)]
        self.same(more, [(1, 0)] * SLOTS, "what the ranker learned from a list without a click")

    def sticky(self):
        """A reload shows the same list; another visitor is another seed."""
        who = "sessionStorage.getItem('visitor')"
        visitor, shown = self.js(who), self.list()
        self.visit_page()
        self.same((self.js(who), self.list()), (visitor, shown), "visitor and list after a reload")
        self.js("document.getElementById('next').click()")
        self.wait(f"{who} !== '{visitor}'")
        self.wait("document.getElementById('said').textContent === 'A list for another visitor.'")

    def list_quality(self):
        """Clicks per list that the simulated visitors give to the lists of now: the mean of 200 lists, without noise of clicks."""
        rates, total = dict(zip(self.rows(), self.state()["rates"])), 0
        for number in range(200):
            passed = 1
            for id in self.redis.execute_command("OLTR.RANK", "shop", SLOTS, "ALL", "SEED", f"probe {number}"):
                passed *= 1 - rates[id.decode()]
            total += 1 - passed
        return total / 200

    def visitors_come(self):
        self.js("document.querySelector('#speeds input[value=\"250\"]').click()")
        self.wait("document.querySelector('#speeds input[value=\"250\"]').checked")
        self.js("document.getElementById('switch').click()")
        end = time.monotonic() + 300
        while (state := self.state())["lists"] < LISTS:
            if time.monotonic() > end or state["trouble"]:
                raise RuntimeError(f"the visitors stopped: {state['lists']} lists, {state['trouble']}")
            time.sleep(0.2)

    def visitors_go(self):
        self.js("document.getElementById('switch').click()")
        self.wait("fetch('/api/state').then(answer => answer.json()).then(state => !state.on)")

    def learns(self):
        """From the beginning again, so that the visitors are the same in every run of this test.  In 20 simulations the lists had
        0.53 clicks at first and 0.80 in the end, and the mean of the last 500 lists has a standard error of 0.018."""
        self.js("document.getElementById('restart').click()")
        self.after_lessons(0, "Start over")
        places, before = self.boxes(), self.list_quality()
        self.visitors_come()
        self.same(self.js("getComputedStyle(document.querySelector('#rows .truth')).opacity"), "1", "true rates with visitors are shown at opacity")
        self.same(self.boxes(), places, "places after visitors came")
        self.visitors_go()
        state, after = self.state(), self.list_quality()
        line = dict(map(tuple, state["line"]))
        late = sum(line[n] for n in (1100, 1200, 1300, 1400, 1500)) / 5
        print(f"clicks per list: {before:.3f} at first, {after:.3f} after {state['lists']} lists, {late:.3f} counted; as told {state['told']:.3f}, best {state['best']:.3f}")
        self.expect(after > before + 0.1, f"the lists did not become better: {before}, {after}")
        self.expect(late > (state["told"] + state["best"]) / 2, f"too few clicks: {late}")
        self.same(state["lessons"], state["lists"], "lessons of the visitors")
        first = self.redis.execute_command("OLTR.RANK", "shop", 1, "ALL", "GREEDY")[0].decode()
        self.expect(first in ("coral-vase", "honey-bowl", "fern-vase"), f"{first} is first, which is not one of the best three")
        self.wait("document.querySelector('#chart .line') !== null")
        self.after_lessons(state["lessons"], "the visitors")

    def buttons(self):
        state = self.state()
        self.js("document.getElementById('tastes').click()")
        self.wait("document.querySelectorAll('#chart .mark').length === 1")
        changed = self.state()
        self.expect(changed["rates"] != state["rates"] and sorted(changed["rates"]) == sorted(state["rates"]), "tastes change: the true rates were not shuffled")
        self.same(changed["beliefs"], state["beliefs"], "beliefs after tastes changed")
        self.js("document.getElementById('forget').click()")
        self.wait("document.querySelectorAll('#chart .mark').length === 2")
        forgot = self.state()["beliefs"]
        self.expect(all(a["prior_share"] > b["prior_share"] for a, b in zip(forgot, state["beliefs"])), "forget: the prior does not weigh more")
        body = json.dumps({"id": "tick"})
        counted = [json.loads(self.request("POST", "/api/forget", body)[1])["counted"] for _ in range(2)]
        self.same(counted, [True, False], "the same tick of forgetting twice")

    def fits(self, where):
        """Nothing is wider than the screen, and no words are cut off."""
        width = self.js("[document.documentElement.scrollWidth, innerWidth]")
        self.expect(width[0] <= width[1], f"{where}: the page is wider than the screen, {width}")
        cut = self.js("""[...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && (e.getBoundingClientRect().right > innerWidth + 1 ||
            (e.childElementCount === 0 && e.textContent.trim() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0))).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40))""")
        self.expect(not cut, f"{where}: cut off: {cut[:5]}")

    def looks(self):
        """Pictures with visitors on, where everything is drawn."""
        self.js("document.getElementById('switch').click()")
        self.wait("document.body.classList.contains('truths')")
        for scheme in ("light", "dark"):
            self.chrome.media(scheme)
            for width, height in ((1400, 1000), (400, 860)):
                self.chrome.size(width, height, width < 600)
                self.js("document.getElementById('cards').dispatchEvent(new Event('pointerdown'))")  # the list stays for a few seconds
                self.js("new Promise(done => setTimeout(done, 700))")  # cards that move have arrived
                self.fits(f"{scheme}, {width} pixels")
                self.chrome.picture(self.pictures / f"shop-{width}-{scheme}.png", True)
        colours = self.js("getComputedStyle(document.body).backgroundColor")
        self.chrome.media("light")
        self.expect(self.js("getComputedStyle(document.body).backgroundColor") != colours, "dark looks like light")

    def quiet(self):
        troubles = [t for t in self.chrome.troubles() if not t.startswith("network: " + self.address) and not t.startswith("network: data:")]
        self.expect(not troubles, f"the console or the network: {troubles[:5]}")

    def ends(self):
        """Ctrl-C ends the shop and its Redis server, and removes its folder."""
        import redis

        code, said = self.shop.interrupt()
        self.expect(code == 0 and "Traceback" not in said, f"after Ctrl-C: {code}, {said}")
        self.expect(not pathlib.Path(self.socket).parent.exists(), f"{self.socket} is still there")
        try:
            self.redis.ping()
            self.faults.append("the Redis server still answers")
        except redis.exceptions.ConnectionError:
            pass

    def run(self):
        for step in (self.loopback, self.same_id_twice, self.refusals, self.messages, self.open, self.first_look, self.click, self.double_click, self.lost_answer,
                     self.keys, self.nothing, self.quiet, self.sticky, self.learns, self.buttons, self.looks, self.quiet):
            step()
        self.ends()
        return self.faults


def main():
    skip_without()
    sys.path.insert(0, str(SOURCE / "tests/report"))
    pictures = pathlib.Path(sys.argv[1])
    pictures.mkdir(parents=True, exist_ok=True)
    test = Test(pictures)
    try:
        faults = test.run()
    finally:
        if hasattr(test, "chrome"):
            test.chrome.close()
        test.shop.end()
    print("\n".join(faults) or "the shop works")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
