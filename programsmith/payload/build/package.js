"use strict";
// A package's scripts, offline, as its client runs them.
// package.js build KIND TARGET: where KIND is made by a build, run the build script, else the TypeScript compiler.
// package.js run NAME [WORD…]: one script, with what goes before and after it. package.js exec PROGRAM [WORD…].
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const BUILDS = ["build", "compile", "prepare", "prepublishOnly", "prepack", "dist"];
const manifest = fs.existsSync("package.json") ? JSON.parse(fs.readFileSync("package.json", "utf8").replace(/^\uFEFF/, "")) : {};
const scripts = manifest.scripts || {};
const env = {
  ...process.env,
  PATH: `${path.resolve("node_modules/.bin")}:${process.env.PATH}`,
  NODE_ENV: "production",
  npm_package_name: manifest.name || "",
  npm_package_version: manifest.version || "",
};

function start(program, words) {
  const done = spawnSync(program, words, { stdio: "inherit", env });
  return done.error ? 127 : done.signal ? 128 : done.status;
}

function quoted(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function run(name, words) {
  if (!(name in scripts)) {
    console.error(`package.json has no script ${name}`);
    return 1;
  }
  for (const step of [`pre${name}`, name, `post${name}`]) {
    if (!(step in scripts)) continue;
    const line = [scripts[step], ...(step === name ? words.map(quoted) : [])].join(" ");
    console.log(`> ${line}`);
    const status = start("sh", ["-c", line]);
    if (status) return status;
  }
  return 0;
}

function build(kind, target) {
  if (kind !== "node-built") return 0;
  const name = BUILDS.find((one) => scripts[one] && scripts[one].trim());
  const status = name ? run(name, []) : 1;
  if (status === 0 && fs.existsSync(target)) return 0;
  const compiler = "node_modules/typescript/bin/tsc";
  if (fs.existsSync(compiler)) {
    console.log("> tsc");
    start(process.execPath, [compiler, "--noEmitOnError", "false"]);
  }
  if (fs.existsSync(target)) return 0;
  console.error(`the package's build does not make ${target}`);
  return status || 1;
}

const [what, ...rest] = process.argv.slice(2);
const words = rest.filter((word, at) => !(word === "--" || (at === 0 && word === "run")));
if (what === "build") process.exitCode = build(rest[0], rest[1]);
else if (what === "run") process.exitCode = run(words.find((w) => !w.startsWith("-")) || "", words.slice(words.findIndex((w) => !w.startsWith("-")) + 1));
else process.exitCode = start(words.find((w) => !w.startsWith("-")) || "", words.slice(words.findIndex((w) => !w.startsWith("-")) + 1));
