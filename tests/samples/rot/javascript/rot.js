#!/usr/bin/env node
"use strict";
// Turn letters by some places: `rot [-n N] [-e] [-o FILE] [FILE]`.
const fs = require("fs");

function turn(data, places) {
  return data.map((byte) => {
    for (const first of [65, 97]) {
      if (first <= byte && byte < first + 26) return ((byte - first + places) % 26) + first;
    }
    return byte;
  });
}

function fail(message) {
  process.stderr.write(`rot: ${message}\n`);
  return 3;
}

function main(words) {
  let places = 13;
  let target;
  let source;
  while (words.length) {
    const word = words.shift();
    if (word === "-n") {
      const value = words.shift();
      if (!/^[0-9]+$/.test(value)) return fail("wanted a number");
      places = Number(value);
    } else if (word === "-e") places = Number(process.env.ROT || "13");
    else if (word === "-o") target = words.shift();
    else if (word.startsWith("-")) return fail("unknown option");
    else source = word;
  }
  let data;
  try {
    data = fs.readFileSync(source || 0);
  } catch {
    return fail("cannot read");
  }
  const out = turn(data, places);
  if (target) fs.writeFileSync(target, out);
  else process.stdout.write(out);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
