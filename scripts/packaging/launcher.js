#!/usr/bin/env node
// Starts the binary of the package for this platform, which npm has installed beside this one. Nothing is downloaded.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `rootset-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/rootset`);
} catch {
  console.error(`rootset: the package \`${name}\` is missing`);
  console.error("hint: install without `--omit=optional`; where there is no such package, build from source");
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both; what is sent to this process alone has to reach the other.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`rootset: cannot start ${binary}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => process.exit(status ?? 128 + constants.signals[signal]));
