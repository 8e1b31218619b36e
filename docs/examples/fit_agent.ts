// An agent whose message list always fits: OpenAI's chat completions, and a Rootset server beside it.
//
//     ROOTSET_URL=http://127.0.0.1:7654 ROOTSET_TOKEN=... MODEL_URL=https://api.openai.com MODEL_KEY=... \
//         node fit_agent.ts "Why is the build red?"
//
// Node alone is needed. Its types are in comments, so that it also runs as plain JavaScript.

import { execSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import process from "node:process";

/** @typedef {{ role: string, content?: string | null, tool_calls?: any[], tool_call_id?: string }} Message */

const BUDGET = Number(process.env.BUDGET_TOKENS ?? "100000");
const SHELL = {
  type: "function",
  function: {
    name: "shell",
    description: "Run a command and return its output.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};

/** @param {string} url @param {object} body @param {string | undefined} key @returns {Promise<any>} */
async function post(url, body, key) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** @param {string} operation @param {object} body */
const rootset = (operation, body) =>
  post(`${process.env.ROOTSET_URL}/v1/${operation}`, body, process.env.ROOTSET_TOKEN);

/** @param {string} tool @param {any} given */
async function use(tool, given) {
  if (tool === "context_recall") return JSON.stringify(await rootset("context_recall", given));
  return execSync(given.command, { encoding: "utf8", timeout: 60_000 });
}

/** @param {string} question */
async function ask(question) {
  const session_id = randomUUID();
  /** @type {Message[]} */
  let messages = [
    { role: "system", content: "You find out why things do not work. Use your tools." },
    { role: "user", content: question },
  ];
  let observed_input_tokens;
  for (;;) {
    const tools = [SHELL];
    const fitted = await rootset("context_fit", {
      session_id, messages, tools, observed_input_tokens,
      format: "openai", budget_tokens: BUDGET, reserved_tokens: 2000, cache_state: "warm",
    });
    if (fitted.over_limit) throw new Error(`too long: ${JSON.stringify(fitted.over_limit)}`);
    const model = process.env.MODEL ?? "gpt-5";
    const request = { model, messages: fitted.messages, tools: [SHELL, fitted.recall_tool] };
    const answer = await post(`${process.env.MODEL_URL}/v1/chat/completions`, request, process.env.MODEL_KEY);
    observed_input_tokens = answer.usage.prompt_tokens;
    const message = answer.choices[0].message;
    // The last answer with new messages at its end; the whole list would do as well.
    messages = [...fitted.messages, message];
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const content = await use(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}

console.log(await ask(process.argv.slice(2).join(" ")));
