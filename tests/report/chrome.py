"""chrome.py - a headless Chromium, driven over the DevTools protocol: enough of it to look at a page like a reader does."""

import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request


class Chrome:
    def __init__(self, program, width=1280, height=900):
        import websocket  # Debian: python3-websocket

        self.home = tempfile.mkdtemp(prefix="oltr-chrome-")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--disable-background-networking", "--disable-renderer-backgrounding",
             "--disable-backgrounding-occluded-windows", "--disable-background-timer-throttling", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.home}", f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = websocket.create_connection(self._page(), timeout=60)
        self.number = 0
        self.events = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def _page(self):
        port_file = pathlib.Path(self.home, "DevToolsActivePort")
        for _ in range(300):
            if port_file.exists() and port_file.read_text().count("\n") >= 1:
                port = port_file.read_text().split("\n")[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    pages = [p for p in json.load(answer) if p["type"] == "page"]
                if pages:
                    return pages[0]["webSocketDebuggerUrl"]
            if self.process.poll() is not None:
                raise RuntimeError("chromium ended at once")
            time.sleep(0.1)
        raise RuntimeError("chromium did not start")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:  # else the answer to a call that was given up
                self.events.append(message)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.js(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"never became true: {expression}")
            time.sleep(0.05)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def size(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def media(self, scheme="light", kind="screen"):
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def picture(self, path, whole=False):
        """A screenshot waits for the next frame, and an idle page may never make one: then it is asked again after a nudge."""
        import websocket

        for seconds in (4, 8, 16):
            self.call("Page.bringToFront")
            self.socket.settimeout(seconds)
            try:
                data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
                pathlib.Path(path).write_bytes(base64.b64decode(data))
                return
            except websocket.WebSocketTimeoutException:
                self.socket.settimeout(60)
                self.js("document.body.style.outline = document.body.style.outline ? '' : '1px solid transparent'")
            finally:
                self.socket.settimeout(60)
        raise RuntimeError(f"no screenshot for {path}")

    def troubles(self):
        """Everything the console would show as an error, every exception, and every request that left the disk."""
        out = []
        for event in self.events:
            method, p = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                out.append("exception: " + json.dumps(p["exceptionDetails"])[:500])
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                out.append("console: " + json.dumps(p["args"])[:500])
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                out.append("log: " + p["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = p["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    out.append("network: " + url)
        return out

    def close(self):
        try:
            self.socket.close()
        finally:
            self.process.terminate()
            self.process.wait(20)
            shutil.rmtree(self.home, ignore_errors=True)
