"use strict";
// Tells which lines of the oracle a node program executes: at its end one `base64(path below the root):line` per line
// to descriptor 200. The engine counts blocks; a line counts where anything on it but blanks was reached.
const fs = require("fs");
const inspector = require("inspector");
const { fileURLToPath } = require("url");
const ROOT = "/opt/oracle/";
const INTO = 200;

delete process.env.NODE_OPTIONS;
const session = new inspector.Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

function reached(text, functions) {
  const counts = new Uint8Array(text.length);
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const range of ranges) counts.fill(range.count ? 1 : 0, range.startOffset, range.endOffset);
  const lines = new Set();
  for (let at = 0, line = 1; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\n") line++;
    else if (counts[at] && letter !== " " && letter !== "\t" && letter !== "\r") lines.add(line);
  }
  return lines;
}

let told = false;
function tell() {
  if (told) return;
  told = true;
  let scripts = [];
  session.post("Profiler.takePreciseCoverage", (fault, found) => {
    scripts = fault ? [] : found.result;
  });
  const lines = [];
  for (const script of scripts) {
    const path = script.url.startsWith("file:") ? fileURLToPath(script.url) : script.url;
    if (!path.startsWith(ROOT)) continue;
    const name = Buffer.from(path.slice(ROOT.length)).toString("base64");
    for (const line of reached(fs.readFileSync(path, "utf8"), script.functions)) lines.push(`${name}:${line}`);
  }
  let rest = Buffer.from(lines.join("\n"));
  while (rest.length) rest = rest.subarray(fs.writeSync(INTO, rest));
}

process.on("exit", tell);
const leave = process.reallyExit;
process.reallyExit = (code) => {
  tell();
  leave.call(process, code);
};
