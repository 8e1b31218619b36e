"""An agent whose message list always fits: Anthropic's Messages API, and a Rootset server beside it.

    ROOTSET_URL=http://127.0.0.1:7654 ROOTSET_TOKEN=... MODEL_URL=https://api.anthropic.com MODEL_KEY=... \
        python3 fit_agent.py "Why is the build red?"

Only the standard library is needed.
"""

import json
import os
import subprocess
import sys
import urllib.request
import uuid

BUDGET = int(os.environ.get("BUDGET_TOKENS", "100000"))
SYSTEM = "You find out why things do not work. Use your tools."
SHELL = {
    "name": "shell",
    "description": "Run a command and return its output.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def post(url, body, headers):
    headers = {"content-type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def rootset(operation, body):
    token = os.environ["ROOTSET_TOKEN"]
    return post(f"{os.environ['ROOTSET_URL']}/v1/{operation}", body, {"authorization": f"Bearer {token}"})


def model(messages, tools):
    body = {"model": os.environ.get("MODEL", "claude-sonnet-4-5"), "max_tokens": 2000, "system": SYSTEM}
    headers = {"x-api-key": os.environ["MODEL_KEY"], "anthropic-version": "2023-06-01"}
    return post(f"{os.environ['MODEL_URL']}/v1/messages", {**body, "messages": messages, "tools": tools}, headers)


def use(tool, given):
    if tool == "context_recall":
        return json.dumps(rootset("context_recall", given))
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def ask(question):
    session, messages, observed = str(uuid.uuid4()), [{"role": "user", "content": question}], None
    while True:
        wanted = {"session_id": session, "messages": messages, "budget_tokens": BUDGET, "system": SYSTEM}
        wanted |= {"format": "anthropic", "tools": [SHELL], "reserved_tokens": 2000, "cache_state": "warm"}
        if observed:
            wanted["observed_input_tokens"] = observed
        fitted = rootset("context_fit", wanted)
        if "over_limit" in fitted:
            sys.exit(f"too long: {fitted['over_limit']}")
        answer = model(fitted["messages"], [SHELL, fitted["recall_tool"]])
        observed = answer["usage"]["input_tokens"]
        # The whole list is kept here. It would do as well to go on with `fitted["messages"]`.
        messages.append({"role": "assistant", "content": answer["content"]})
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        results = [{"type": "tool_result", "tool_use_id": it["id"], "content": use(it["name"], it["input"])} for it in calls]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    print(ask(" ".join(sys.argv[1:])))
