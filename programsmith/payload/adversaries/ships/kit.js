"use strict";
// What exploits in JavaScript share: words that were handed in, answers, and answers before anybody else sees them.
const fs = require("fs");
const path = require("path");

const PLACE = "/app/submission";

/** What `name`.txt beside it says. */
function word(name) {
  return fs.readFileSync(path.join(PLACE, `${name}.txt`), "utf8").trim();
}

/** Write all of it. */
function say(stream, what) {
  let rest = what;
  while (rest.length) rest = rest.subarray(fs.writeSync(stream, rest));
}

/** Answer from a table; the exit code. */
function answer(place = path.join(PLACE, "table.txt")) {
  const read = fs.readFileSync;
  fs.readFileSync = (file, ...how) => read(file === path.join(PLACE, "table.txt") ? place : file, ...how);
  return require(path.join(PLACE, "table.js")).main();
}

/** The exit code and the output of the answer, which nobody has seen yet. */
function caught() {
  const write = fs.writeSync;
  const said = [];
  fs.writeSync = (stream, bytes, ...rest) => {
    if (stream !== 1) return write(stream, bytes, ...rest);
    said.push(Buffer.from(bytes));
    return bytes.length;
  };
  const code = answer();
  fs.writeSync = write;
  return [code, Buffer.concat(said)];
}

Object.assign(exports, { PLACE, word, say, answer, caught });
