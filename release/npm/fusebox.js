#!/usr/bin/env node
// Starts the native program of this system, which the package for it brings. Hooks do not come this way: `fusebox init` names the program itself.
"use strict";
const { spawnSync } = require("child_process");

const wrapper = require("../package.json");
const suffix = `${process.platform}-${process.arch}`;
const name = `${wrapper.name}-${suffix}`;

function fail(...lines) {
  console.error(lines.join("\n"));
  process.exit(1);
}

if (!(name in wrapper.optionalDependencies)) {
  fail(`error: there is no fusebox for ${suffix}`, "  hint: `cargo install " + wrapper.name + " --locked` builds it");
}
let program;
try {
  program = require.resolve(`${name}/bin/fusebox${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  fail(
    `error: the package ${name} is missing: npm was told to leave optional packages out`,
    `  hint: npm install -g --include=optional ${wrapper.name}@${wrapper.version}`,
  );
}
const ran = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ran.error) {
  fail(`error: ${program} does not run: ${ran.error.message}`);
}
if (ran.signal) {
  process.kill(process.pid, ran.signal);
}
process.exit(ran.status ?? 1);
