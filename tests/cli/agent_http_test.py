"""`oas agent --http`: a process that serves, as clients, proxies, attackers and people meet it."""

import concurrent.futures
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
import unittest

from support import OAS, CliCase

TOKEN = "0123456789abcdef-test"


class Served:
    """A running agent; `with Served(folder, …) as agent:`."""

    def __init__(self, folder, *options, model="machine-maintenance", journal="journal",
                 address="127.0.0.1:0"):
        self.command = [OAS, "agent", model, "--journal", journal, "--http", address,
                        *map(str, options)]
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on http://(.*):(\d+)\n", line)
        assert found, line + self.process.stderr.read()
        self.host, self.port = found[1], int(found[2])
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors

    def request(self, method, path, body=None, headers=None):
        """Status, header and body, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, dict(reply.getheaders()), text

    def ask(self, call, headers=None, **request):
        status, _, text = self.request("POST", f"/v1/{call}", json.dumps(request), headers)
        return status, json.loads(text)

    def good(self, call, **request):
        status, answer = self.ask(call, **request)
        assert status == 200 and answer["ok"], answer
        return answer

    def raw(self, data, parts=1):
        """What comes back for these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            size = max(1, len(data) // parts)
            for at in range(0, len(data), size):
                client.sendall(data[at:at + size])
            client.shutdown(socket.SHUT_WR)
            reply = b""
            while True:
                part = client.recv(65536)
                if not part:
                    return reply.decode("latin-1")
                reply += part

    def play(self, unit, steps, first=0, seen="clean"):
        """Steps of a unit; what was answered."""
        if first == 0:
            self.good("act", unit=unit, step=0)
        return [self.good("step", unit=unit, step=t, observation=seen)
                for t in range(first, first + steps)]


class AgentOverHttp(CliCase):
    def serve(self, *options, **more):
        return Served(self.folder, *options, **more)

    def test_the_calls_are_those_of_the_lines(self):
        lines = [{"call": "act", "unit": "m", "step": 0},
                 {"call": "step", "unit": "m", "step": 0, "observation": "clean"},
                 {"call": "step", "unit": "m", "step": 1, "observation": None},
                 {"call": "observe", "unit": "m", "step": 2, "observation": "clean"},
                 {"call": "observe", "unit": "m", "step": 7, "observation": "clean"},
                 {"call": "status"}, {"call": "estimate"}, {"call": "plan"},
                 {"call": "end", "unit": "m", "step": 3}, {"call": "health"}]
        result = self.oas("agent", "machine-maintenance", "--journal", "lines", "--synchronous",
                              stdin="".join(json.dumps(line) + "\n" for line in lines))
        expected = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(expected), len(lines))
        with self.serve("--synchronous") as agent:
            answers = [agent.ask(**line)[1] for line in lines]
        self.assertEqual(answers, expected)

    def test_repeats_conflicts_and_restarts(self):
        with self.serve() as agent:
            last = agent.play("m", 20)[-1]
            self.assertEqual(agent.good("step", unit="m", step=19, observation="clean"), last)
            status, answer = agent.ask("step", unit="m", step=19, observation="scrap")
            self.assertEqual(status, 409, answer)
            status, answer = agent.ask("step", unit="m", step=25, observation="clean")
            self.assertEqual(status, 409)
            self.assertIn("20", answer["error"])
            self.assertEqual(agent.stop(), (0, ""))
        with self.serve() as agent:
            self.assertEqual(agent.good("step", unit="m", step=19, observation="clean"), last)
            agent.play("m", 1, first=20)
            self.assertEqual(agent.stop(signal.SIGINT), (0, ""))

    def test_mistakes_get_a_reason_and_change_nothing(self):
        with self.serve() as agent:
            agent.play("m", 3)
            before = agent.good("status")
            cases = [("POST", "/v1/act", "{", 400), ("POST", "/v1/act", "", 400),
                     ("POST", "/v1/act", "[1]", 400), ("POST", "/v1/act", '{"unit":7}', 400),
                     ("POST", "/v1/act", '{"unit":"m","step":3,"x":1}', 400),
                     ("POST", "/v1/step", '{"unit":"m","step":3,"observation":"purple"}', 400),
                     ("POST", "/v1/step", '{"unit":"new","step":9,"observation":null}', 404),
                     ("POST", "/v1/step", '{"unit":"m","step":3,"observation":null,"action":0,'
                      '"propensity":5e-324}', 400),
                     ("POST", "/v1/fly", "{}", 404), ("GET", "/v1/act", None, 405),
                     ("PUT", "/v1/act", "{}", 405), ("DELETE", "/", None, 405),
                     ("OPTIONS", "/v1/act", None, 405), ("GET", "/etc/passwd", None, 404),
                     ("GET", "/../../etc/passwd", None, 404), ("GET", "/v1/../metrics", None, 404),
                     ("POST", "/v1/history", '{"action":9}', 400)]
            for method, path, body, expected in cases:
                status, header, text = agent.request(method, path, body)
                self.assertEqual(status, expected, (method, path, body, text))
                self.assertEqual(header["Content-Type"], "application/json")
                answer = json.loads(text)
                self.assertFalse(answer["ok"])
                self.assertTrue(answer["error"])
            self.assertEqual(agent.good("status"), before)

    def test_head_pipelines_and_old_clients(self):
        with self.serve() as agent:
            status, header, text = agent.request("HEAD", "/")
            self.assertEqual((status, text), (200, ""))
            self.assertGreater(int(header["Content-Length"]), 1000)
            body = json.dumps({"unit": "m", "step": 0})
            one = (f"POST /v1/act HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
                   f"\r\n{body}")
            reply = agent.raw((one * 3).encode())
            self.assertEqual(reply.count("HTTP/1.1 200 OK"), 3)
            answers = re.findall(r"\{.*\}", reply)
            self.assertEqual(len(set(answers)), 1)
            self.assertEqual(agent.raw(one.encode(), parts=len(one)).count("HTTP/1.1 200 OK"), 1)
            self.assertIn("200 OK", agent.raw(b"GET /metrics HTTP/1.0\r\n\r\n"))

    def test_who_is_asked_for_and_by_whom(self):
        with self.serve("--http-host", "pumps.example") as agent:
            for host, expected in (("localhost", 200), ("pumps.example", 200), ("evil.com", 403),
                                   (f"127.0.0.1:{agent.port}", 200)):
                status, _, text = agent.request("GET", "/metrics", headers={"Host": host})
                self.assertEqual(status, expected, text)
            status, _, text = agent.request("POST", "/v1/status", "{}",
                                            {"Origin": "http://evil.com"})
            self.assertEqual(status, 403, text)
            status, header, _ = agent.request("GET", "/")
            self.assertIn("frame-ancestors 'none'", header["Content-Security-Policy"])
            self.assertNotIn("Access-Control-Allow-Origin", header)

    def test_tokens(self):
        self.write("tokens", f"# of the plant\n{TOKEN}\n")
        os.chmod(os.path.join(self.folder, "tokens"), 0o600)
        with self.serve("--token-file", "tokens", address="0.0.0.0:0") as agent:
            for headers, expected in (({}, 401), ({"Authorization": "Bearer " + TOKEN}, 200),
                                      ({"Authorization": "Bearer " + TOKEN[:-1]}, 401),
                                      ({"Authorization": "Basic " + TOKEN}, 401)):
                status, answer = agent.ask("status", headers)
                self.assertEqual(status, expected, answer)
                self.assertNotIn(TOKEN, json.dumps(answer))
            self.assertEqual(agent.request("GET", "/metrics")[0], 401)
            for path in ("/", "/openapi.json"):
                status, _, text = agent.request("GET", path)
                self.assertEqual(status, 200)
                self.assertNotIn(TOKEN, text)

    def test_a_service_manager_is_told_when_it_answers(self):
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(60)
            manager.bind(path)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                served = self.serve()
                with served as agent:
                    self.assertEqual(manager.recv(100), b"READY=1")
                    agent.good("status")
                    self.assertEqual(agent.stop(), (0, ""))
                    self.assertEqual(manager.recv(100), b"STOPPING=1")
                os.environ["NOTIFY_SOCKET"] = path + "-of-nobody"
                with self.serve() as agent:
                    agent.good("status")
            finally:
                del os.environ["NOTIFY_SOCKET"]

    def test_wrong_use_is_named(self):
        verb = ("agent", "machine-maintenance", "--journal", "j")
        self.bad(*verb, "--http", "0.0.0.0:0", says=["0.0.0.0:0", "token"])
        self.bad(*verb, "--http", "localhost:80", says=["localhost:80", "127.0.0.1:8080"])
        self.bad(*verb, "--http", "127.0.0.1:99999", says=["99999"])
        self.bad(*verb, "--http-rate", 3, says=["--http-rate", "used only with --http"])
        self.bad(*verb, "--token-file", "t", says=["--token-file", "used only with --http"])
        self.bad(*verb, "--http", "127.0.0.1:0", "--http-rate", -1, says=["--http-rate", "'-1'"])
        self.write("short", "secret\n")
        self.assertNotIn("secret", self.bad(*verb, "--http", "127.0.0.1:0", "--token-file",
                                            "short", says=["short:1", "16"]))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "j")))
        with self.serve() as agent:
            result = self.oas("agent", "machine-maintenance", "--journal", "other", "--http",
                                  f"127.0.0.1:{agent.port}")
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot listen there: Address already in use", result.stderr)

    def test_limits(self):
        with self.serve("--http-rate", 5, "--http-body", 2048, "--http-timeout", 0.5) as agent:
            status, _, text = agent.request("POST", "/v1/status", "x" * 10_000_000)
            self.assertEqual(status, 413, text)
            counts = [agent.ask("health")[0] for _ in range(20)]
            self.assertIn(429, counts)
            time.sleep(1.5)
            with socket.create_connection(("127.0.0.1", agent.port), timeout=30) as client:
                client.sendall(b"POST /v1/status HTTP/1.1\r\nHost: localhost\r\n")
                self.assertIn(b"HTTP/1.1 408", client.recv(65536))

    def test_slow_clients_and_many_connections_hold_nobody_up(self):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        with self.serve("--http-rate", 0) as agent:
            slow = [socket.create_connection(("127.0.0.1", agent.port)) for _ in range(1000)]
            for client in slow:
                client.sendall(b"POST /v1/status HTTP/1.1\r\nHost: loc")
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                played = list(pool.map(lambda i: agent.play(f"m{i}", 25), range(8)))
            self.assertEqual([steps[-1]["step"] for steps in played], [25] * 8)
            for client in slow:
                client.sendall(b"alhost\r\nContent-Length: 2\r\n\r\n{}")
            for client in slow:
                self.assertTrue(client.recv(65536).startswith(b"HTTP/1.1 200"))
                client.close()

    def test_metrics_are_prometheus_text(self):
        with self.serve() as agent:
            agent.play("m", 10)
            text = agent.request("GET", "/metrics")[2]
            line = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.\deInf]+')
            for each in text.splitlines():
                self.assertTrue(each.startswith("# ") or line.fullmatch(each), each)
            self.assertRegex(text, r'(?m)^oas_calls_total\{call="step",status="200"\} 10$')
            self.assertRegex(text, r"(?m)^oas_units 1$")
            self.assertRegex(text, r'(?m)^oas_http_replies_total\{status="200"\} 11$')

    def test_health_for_those_who_watch(self):
        with self.serve() as agent:
            status, _, text = agent.request("GET", "/v1/health")
            self.assertEqual(status, 200)
            self.assertEqual(json.loads(text), agent.good("health"))
            self.assertEqual(agent.request("HEAD", "/v1/health")[0], 200)
            self.assertEqual(agent.request("DELETE", "/v1/health")[0], 405)

    def test_history_begins_with_the_journal(self):
        entry = {"action": "run", "from": 0, "to": 1}
        options = ("--set", "first_episode=50", "--synchronous")
        with self.serve(*options) as agent:
            agent.play("m", 120)
            before = agent.good("history", **entry)
            self.assertGreaterEqual(len(before["plan"]), 2)
        with self.serve(*options) as agent:
            self.assertEqual(agent.good("history", **entry), before)

    def test_kill_loses_nothing_that_was_answered(self):
        with self.serve() as agent:
            told = agent.play("m", 50)
            agent.process.kill()
            agent.process.wait()
        with self.serve() as agent:
            self.assertEqual(agent.good("step", unit="m", step=49, observation="clean"), told[-1])
            self.assertEqual(agent.good("status")["rows"], 50)


if __name__ == "__main__":
    unittest.main()
