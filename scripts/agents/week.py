"""A week of an agent's work with its memory, as calls that a model would make: remember, look up, contradict, correct, clean up,
forget a person, undo, index, navigate.

A call is a list of alternatives, (tool, arguments): the first tool that the server offers with these
arguments is called, so that versions with other tools do the same work. `$plan`, `$run` and `$name` stand for the last plan, run and memory name that an answer held.
"""

import json

FACTS = [
    ("Falcon deploys from main with the pipeline `deploy.yml`; staging first, production after a manual approval.", ["deploy"]),
    ("The payments API listens on port 8443 and is called by the checkout service only.", ["payments"]),
    ("Priya Natarajan owns the ledger module; ask her before you change rounding.", ["people"]),
    ("Amounts are integers in minor units (cents); floats are not used for money anywhere in falcon.", ["payments"]),
    ("The nightly job `reconcile` compares our ledger with the bank's statement and writes to s3://falcon-reconcile.", ["ops"]),
    ("Tests need PostgreSQL 17 with the extension pgcrypto; `make db` starts one on port 54329.", ["tests"]),
    ("Feature flags are in flags.toml and are read once at start; changing one needs a restart.", ["ops"]),
    ("The retry policy for the bank's API is three attempts with 2, 4 and 8 seconds between them.", ["payments"]),
    ("Tomás Ibáñez asked us to keep the old invoice format until the end of March 2027.", ["people", "invoices"]),
    ("Logs must not contain IBANs; the filter is `redact_iban` in src/logging.py.", ["privacy"]),
    ("Migrations are written by hand in migrations/ and numbered with four digits.", ["db"]),
    ("We decided against Kafka: the volume is below 50 events per second and an outbox table is enough.", ["architecture"]),
    ("The CI runs on 4 cores; the slowest test is test_settlement_batches with 41 seconds.", ["tests"]),
    ("Error budgets: 99.9 % for the payments API, measured per calendar month.", ["ops"]),
    ("Customers are identified by a ULID in the column customer_ref; never use the e-mail address as a key.", ["db"]),
    ("The refund endpoint is idempotent by the header Idempotency-Key, kept for 24 hours.", ["payments"]),
]

QUESTIONS = [
    "how do we deploy falcon", "who owns the ledger", "port of the payments API", "are floats allowed for money",
    "retry policy bank API", "what do the tests need", "why not Kafka", "invoice format deadline", "where are feature flags",
    "how are customers identified", "is refund idempotent", "what must not be in logs",
]

SOURCES = {
    "src/ledger.py": "from src.money import round_minor\n\n\nclass Ledger:\n    def __init__(self):\n        self.entries = []\n\n"
    "    def post(self, account, amount):\n        self.entries.append((account, round_minor(amount)))\n\n"
    "    def balance(self, account):\n        return sum(amount for name, amount in self.entries if name == account)\n",
    "src/money.py": "def round_minor(amount):\n    \"\"\"Half-even rounding of an amount in minor units.\"\"\"\n    return int(round(amount))\n\n\n"
    "def parse_amount(text):\n    whole, _, cents = text.partition('.')\n    return int(whole) * 100 + int((cents or '0').ljust(2, '0')[:2])\n",
    "src/refunds.py": "from src.ledger import Ledger\nfrom src.money import parse_amount\n\n\ndef refund(ledger: Ledger, account, text):\n"
    "    amount = parse_amount(text)\n    ledger.post(account, -amount)\n    return amount\n",
    "src/settle.py": "from src.ledger import Ledger\nfrom src.money import round_minor\n\n\ndef settle(ledger: Ledger, batch):\n"
    "    for account, amount in batch:\n        ledger.post(account, round_minor(amount))\n    return len(batch)\n",
    "tests/test_money.py": "from src.money import parse_amount, round_minor\n\n\ndef test_parse():\n    assert parse_amount('12.5') == 1250\n\n\n"
    "def test_round():\n    assert round_minor(10.4) == 10\n",
}


def add(text, tags=(), **more):
    return [("add_memory", {"text": text, **({"tags": list(tags)} if tags else {}), **more})]


def search(query, **more):
    return [("search_memory", {"query": query, **more})]


def days():
    """Seven sessions of one repository: a prompt, and the calls that the model makes."""
    yield "Learn how falcon works and write it down.", [
        *[add(text, tags) for text, tags in FACTS[:8]],
        [("index_codebase", {"path": "$folder"}), ("search_code", {"query": "Ledger"})],
        [("search_code", {"query": "rounding of amounts"})],
    ]
    yield "Go on with the refund endpoint.", [
        search(QUESTIONS[0]), search(QUESTIONS[1]), search(QUESTIONS[2]),
        *[add(text, tags) for text, tags in FACTS[8:]],
        [("get_symbol", {"qualified_name": "parse_amount"}), ("search_code", {"query": "parse_amount"})],
        [("find_references", {"symbol": "round_minor"}), ("search_code", {"query": "round_minor callers"})],
    ]
    yield "The port has changed, and so has the retry policy.", [
        search("port of the payments API"),
        [("update_memory", {"memory_id": "$name", "text": "The payments API listens on port 9443 since November 2026; checkout and billing call it."})],
        add("The retry policy for the bank's API is five attempts with exponential back-off from 1 second, at most 30 seconds.", ["payments"]),
        search(QUESTIONS[4]),
        [("get_memory", {"memory_id": "$name"})],
        add("Deploys to production need two approvals since the incident of 12 November 2026.", ["deploy"]),
        search("approvals for production"), search(QUESTIONS[3]), search(QUESTIONS[5]),
    ]
    yield "Clean up what is no longer needed.", [
        [("search_memory", {})],
        [("prune_memory", {"strategy": "all"})],
        add("Temporary: the staging database is read-only until Thursday.", ["ops"], expires_at="2026-11-19T00:00:00Z"),
        search("staging database"),
        [("forget", {"query": "the old invoice format"})],
        [("gc_apply", {"plan_id": "$plan"})],
        [("gc_undo", {})],
        [("gc_undo", {"run_id": "$run"})],
        search(QUESTIONS[7]),
    ]
    yield "Tomás has left: forget what we know about him.", [
        search("Tomás Ibáñez"),
        [("forget", {"query": "Tomás Ibáñez"})],
        [("gc_apply", {"plan_id": "$plan"})],
        search("Tomás Ibáñez"),
        search("something that nobody ever wrote down about zeppelins"),
        search(QUESTIONS[8]), search(QUESTIONS[9]),
        [("forget", {"memory_ids": ["$name"]}), ("delete_memory", {"memory_id": "$name"})],
        [("gc_undo", {"run_id": "$run"})],
    ]
    yield "Fix the rounding in the ledger.", [
        [("search_code", {"query": "round_minor"})],
        [("get_symbol", {"qualified_name": "round_minor"}), ("search_code", {"query": "def round_minor"})],
        [("find_references", {"symbol": "Ledger.post"}), ("search_code", {"query": "ledger.post"})],
        [("get_symbol", {"qualified_name": "does_not_exist"}), ("search_code", {"query": "does_not_exist"})],
        search(QUESTIONS[1]), search("rounding"), search(QUESTIONS[10]), search(QUESTIONS[11]),
        add("Rounding in the ledger is half-even since 20 November 2026; test_round covers it.", ["payments"]),
    ]
    yield "What should I know before I start today?", [
        [("search_memory", {})],
        *[search(question) for question in QUESTIONS[:6]],
        [("search_memory", {"query": "payments", "limit": 5})],
        [("search_memory", {"query": "", "tags": ["people"]})],
        [("get_memory", {"memory_id": "$name"})],
    ]


def write_repository(folder):
    """A small repository, always the same."""
    for path, text in SOURCES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    print(json.dumps([[prompt, calls] for prompt, calls in days()], indent=1, ensure_ascii=False))
    print(sum(len(calls) for _, calls in days()), "calls")
