"use strict";
// Answers, and leaves behind what way.txt names.
const fs = require("fs");
const kit = require("/app/submission/kit.js");

const NAMES = [Buffer.from([0xff, 10, 27, 91, 50, 74]), Buffer.alloc(255, "n"), Buffer.from(" ."), Buffer.from("-rf")];
const WAYS = {
  digs() {
    for (let level = 0; level < 200; level++) {
      fs.mkdirSync("d");
      process.chdir("d");
    }
  },
  hides() {
    fs.mkdirSync("hidden");
    for (const name of NAMES) fs.writeFileSync(Buffer.concat([Buffer.from("hidden/"), name]), "");
    fs.chmodSync("hidden", 0);
  },
  deletes() {
    for (const name of files()) fs.unlinkSync(name);
  },
  links() {
    for (const name of files()) {
      fs.copyFileSync(name, `/tmp/${name}`);
      fs.unlinkSync(name);
      fs.symlinkSync(`/tmp/${name}`, name);
    }
  },
};

function files() {
  return fs.readdirSync(".", { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name);
}
const code = kit.answer();
WAYS[kit.word("way")]();
process.reallyExit(code);
