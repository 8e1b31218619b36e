"""A stand-in for a hosted model on loopback: it speaks Anthropic's Messages API and answers with the calls it was given.

Every request is kept, so that what reached the model can be looked at. Not here: what is called, and what is measured.
"""

import http.server
import itertools
import json
import re
import threading

PREFIX = "mcp__rootset__"
USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 0, "output_tokens": 5}


class Model:
    """Answers one session after the other; `begin` says what the model does in the next one."""

    def __init__(self):
        self.requests, self.calls, self.turn, self.folder = [], [], 0, ""
        self.skipped = []
        self._lock, self._numbers = threading.Lock(), itertools.count(1)
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, code, value):
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def do_HEAD(self):
                self.answer(200, {})

            def do_GET(self):
                self.answer(404, {})

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                body = json.loads(raw or b"{}")
                if "count_tokens" in self.path:
                    return self.answer(200, {"input_tokens": len(raw) // 4})
                if not self.path.startswith("/v1/messages"):
                    return self.answer(404, {})
                self.stream(*model.reply(body))

            def stream(self, message, block, delta, stop):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                for event in (
                    {"type": "message_start", "message": message},
                    {"type": "content_block_start", "index": 0, "content_block": block},
                    {"type": "content_block_delta", "index": 0, "delta": delta},
                    {"type": "content_block_stop", "index": 0},
                    {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 7}},
                    {"type": "message_stop"},
                ):
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
                self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def begin(self, calls, folder):
        with self._lock:
            self.calls, self.turn, self.folder, self.requests = calls, 0, str(folder), []

    def reply(self, body):
        number = next(self._numbers)
        message = {"id": f"msg_{number:06}", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": USAGE}
        call = self._next_call(body)
        if call is None:
            return message, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        name, arguments = call
        block = {"type": "tool_use", "id": f"toolu_{number:06}", "name": name, "input": {}}
        return message, block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"

    def _next_call(self, body):
        offered = {tool["name"]: tool["input_schema"].get("properties", {}) for tool in body.get("tools") or []}
        with self._lock:
            if not any(name.startswith(PREFIX) for name in offered):
                return None
            self.requests.append(body)
            while self.turn < len(self.calls):
                alternatives = self.calls[self.turn]
                self.turn += 1
                for tool, arguments in alternatives:
                    fields = offered.get(PREFIX + tool)
                    if fields is not None and (len(alternatives) == 1 or fields.keys() >= arguments.keys()):
                        return PREFIX + tool, self._filled_in(arguments, body)
                self.skipped.append(alternatives[0][0])
            return None

    def _filled_in(self, arguments, body):
        heard = "\n".join(texts_of_results(body))
        last = lambda pattern: (re.findall(pattern, heard) or [""])[-1]
        known = {
            "$folder": self.folder,
            "$plan": last(r'plan_id\W+([0-9a-f-]{36})'),
            "$run": last(r'run_id\W+([0-9a-f-]{36})'),
            "$name": last(r'"name"\W+([a-z0-9._/-]+)') or last(r'(?m)^- ([a-z0-9._/-]+) ·'),
        }
        fill = lambda value: [fill(it) for it in value] if isinstance(value, list) else known.get(value, value) if isinstance(value, str) else value
        return {field: fill(value) for field, value in arguments.items()}


def texts_of_results(body):
    """What tools answered, as the model reads it."""
    for message in body.get("messages", []):
        content = message["content"] if isinstance(message["content"], list) else []
        for block in content:
            if block.get("type") == "tool_result":
                inner = block["content"]
                yield inner if isinstance(inner, str) else "\n".join(part.get("text", "") for part in inner)
