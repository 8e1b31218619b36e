"""A stand-in for a hosted model on loopback: it speaks OpenAI's Responses API and answers with the calls it was given.

What every tool answered is kept, so that it can be looked at. Not here: what is called, and what is measured.
"""

import http.server
import itertools
import json
import threading

NAMESPACE = "mcp__rootset"
USAGE = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
         "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 105}


class Model:
    """Answers one session after the other; `begin` says what the model does in the next one."""

    def __init__(self):
        self.calls, self.turn, self.answers = [], 0, []
        self._lock, self._numbers = threading.Lock(), itertools.count(1)
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.send_response(404)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                response = f"resp_{next(model._numbers):06}"
                for event in (
                    {"type": "response.created", "response": {"id": response}},
                    {"type": "response.output_item.done", "output_index": 0, "item": model.reply(body)},
                    {"type": "response.completed", "response": {"id": response, "usage": USAGE}},
                ):
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
                self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def begin(self, calls):
        with self._lock:
            self.calls, self.turn, self.answers = calls, 0, []

    def reply(self, body):
        number = next(self._numbers)
        with self._lock:
            items = [item for item in body.get("input", []) if item.get("type") == "function_call_output"]
            self.answers = [item["output"] if isinstance(item["output"], str) else json.dumps(item["output"]) for item in items]
            if self.turn >= len(self.calls):
                text = [{"type": "output_text", "text": "Done."}]
                return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": text}
            tool, arguments = self.calls[self.turn]
            self.turn += 1
        return {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "namespace": NAMESPACE,
                "name": tool, "arguments": json.dumps(arguments)}
