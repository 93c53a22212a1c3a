"""A browser that clicks: Debian's chromium and chromium-driver, by the WebDriver protocol."""

import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium")
BOTH = DRIVER is not None and CHROMIUM is not None
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's id in the protocol


class Browser:
    """`with Browser(folder) as browser:`; what the page says on its console is in console()."""

    def __init__(self, folder, width=1200, height=900, dark=False):
        self.folder, self.size, self.dark = folder, (width, height), dark

    def __enter__(self):
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.DEVNULL)
        line = ""
        while "started successfully on port" not in line:
            line = self.driver.stdout.readline()
            assert line, "chromedriver did not start"
        self.base = f"http://127.0.0.1:{line.split()[-1].rstrip('.')}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={self.folder}/profile", "--hide-scrollbars",
                     f"--window-size={self.size[0]},{self.size[1]}"]
        if self.dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        answer = self.request("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments}}}})
        self.base += "/" + answer["sessionId"]
        # Windows have a least width; phones are narrower.
        self.request("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": self.size[0], "height": self.size[1], "deviceScaleFactor": 1,
                       "mobile": False}})
        return self

    def __exit__(self, *_):
        try:
            self.request("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from error

    def open(self, url):
        self.request("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a script in the page returns."""
        return self.request("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=20):
        """Waits until what the script returns is true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{script}: not within {seconds} s; {self.console()}")

    def find(self, selector):
        found = self.request("POST", "/element", {"using": "css selector", "value": selector})
        return found[ELEMENT]

    def click(self, selector):
        self.request("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.request("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def console(self):
        return [entry["message"] for entry in self.request("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path, whole=True):
        if whole:
            answer = self.request("POST", "/goog/cdp/execute", {
                "cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": True}})
            data = answer["data"]
        else:
            data = self.request("GET", "/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
