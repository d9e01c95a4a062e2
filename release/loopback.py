"""What a stranger's machine talks to, served on loopback: an npm registry, release files, a git repository, and a model that runs away."""

import base64
import hashlib
import json
import os
import subprocess
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USAGE = {"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 2000}


class Handler(BaseHTTPRequestHandler):
    """A handler that says nothing of each request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, kind="application/json", status=200):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))


def serve(handler):
    """Serves a handler in the background; returns its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def registry(folder):
    """Serves the npm packages (.tgz) of a folder as a registry does. Whatever else is asked for is not there."""
    known = {}

    class Registry(Handler):
        def do_GET(self):
            path = urllib.parse.unquote(self.path.split("?")[0])
            file = Path(folder) / Path(path).name if path.startswith("/-/") else None
            if file and file.is_file():
                self.reply(file.read_bytes(), "application/octet-stream")
            elif path[1:] in known:
                self.reply(json.dumps(known[path[1:]]).encode())
            else:
                self.reply(b"{}", status=404)

        def do_POST(self):
            self.body()
            self.reply(b"{}")

    address = serve(Registry)
    for path in sorted(Path(folder).glob("*.tgz")):
        content = path.read_bytes()
        about = json.load(tarfile.open(path).extractfile("package/package.json"))
        whole = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        about["dist"] = {"tarball": f"{address}/-/{path.name}", "integrity": whole,
                         "shasum": hashlib.sha1(content).hexdigest()}
        document = known.setdefault(about["name"], {"name": about["name"], "dist-tags": {}, "versions": {}})
        document["versions"][about["version"]] = about
        document["dist-tags"]["latest"] = about["version"]
    return address


def files(folder):
    """Serves the files of a folder."""

    class Files(Handler):
        def do_GET(self):
            file = Path(folder) / Path(self.path).name
            self.reply(file.read_bytes(), "application/octet-stream") if file.is_file() else self.reply(b"", status=404)

    return serve(Files)


def git(folder):
    """Serves the git repositories below a folder as a forge does, by git's own program for it."""

    class Git(Handler):
        def do_GET(self):
            self.ask(b"")

        def do_POST(self):
            self.ask(self.body())

        def ask(self, sent):
            path, _, query = self.path.partition("?")
            asked = {"GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command,
                     "PATH_INFO": urllib.parse.unquote(path), "QUERY_STRING": query, "CONTENT_LENGTH": str(len(sent)),
                     "CONTENT_TYPE": self.headers.get("content-type", ""), "PATH": os.environ["PATH"],
                     "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                     "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                     "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
            said = subprocess.run(["git", "http-backend"], input=sent, env=asked, capture_output=True).stdout
            head, _, body = said.partition(b"\r\n\r\n")
            lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            self.reply(body, lines.get("Content-Type", "text/plain"), int(lines.get("Status", "200").split()[0]))

    return serve(Git)


class Runaway:
    """A model that asks for the same failing command again and again, as long as it is asked."""

    def __init__(self, most):
        self.most, self.calls, self.marks, self.lock = most, 0, [], threading.Lock()
        runaway = self

        class Messages(Handler):
            def do_HEAD(self):
                self.reply(b"")

            def do_GET(self):
                self.reply(b"{}")

            def do_POST(self):
                raw = self.body()
                if "count_tokens" in self.path:
                    return self.reply(b'{"input_tokens":100}')
                if "/v1/messages" not in self.path:
                    return self.reply(b"{}")
                asked = json.loads(raw)
                said = runaway.answer(asked)
                if asked.get("stream"):
                    return self.reply(streamed(said), "text/event-stream")
                return self.reply(json.dumps(said).encode())

        self.address = serve(Messages)

    def answer(self, asked):
        """Returns the next message; requests without tools are the client's own, and count for nothing."""
        with self.lock:
            self.marks.append(None)
            number, goes_on = len(self.marks), False
            if asked.get("tools"):
                self.calls += 1
                goes_on = self.calls <= self.most
        content = [{"type": "text", "text": "done"}]
        if goes_on:
            content = [{"type": "tool_use", "id": f"toolu_{id(self)}_{number}", "name": "Bash",
                        "input": {"command": "false", "description": "again"}}]
        return {"id": f"msg_{id(self)}_{number}", "type": "message", "role": "assistant", "model": asked.get("model"),
                "content": content, "stop_reason": "tool_use" if goes_on else "end_turn", "stop_sequence": None,
                "usage": USAGE}


def streamed(message):
    """Returns a message as the events of a stream."""
    empty = message | {"content": [], "stop_reason": None, "usage": USAGE | {"output_tokens": 1}}
    events = [("message_start", {"message": empty})]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [("content_block_start", {"index": index, "content_block": start}),
                   ("content_block_delta", {"index": index, "delta": delta}), ("content_block_stop", {"index": index})]
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [("message_delta", {"delta": ended, "usage": message["usage"]}), ("message_stop", {})]
    return "".join(f"event: {name}\ndata: {json.dumps(more | {'type': name})}\n\n" for name, more in events).encode()
