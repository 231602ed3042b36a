"use strict";
// Answers rightly, and uses too much of what way.txt names.
const fs = require("fs");
const kit = require("/app/submission/kit.js");

const WAYS = {
  entries() {
    const names = Array.from({ length: 200 }, (_, number) => `/tmp/${number}`);
    for (const name of names) fs.closeSync(fs.openSync(name, "w"));
    for (const name of names) fs.unlinkSync(name);
  },
  memory_files() {
    const names = Array.from({ length: 16 }, (_, number) => `/dev/shm/${number}`);
    for (const name of names) fs.writeFileSync(name, Buffer.alloc(1 << 20));
    for (const name of names) fs.unlinkSync(name);
  },
  complains() {
    kit.answer();
    for (;;) kit.say(2, Buffer.from("more ".repeat(4096)));
  },
};
try {
  WAYS[kit.word("way")]();
} catch {
  process.reallyExit(1);
}
process.reallyExit(kit.answer());
