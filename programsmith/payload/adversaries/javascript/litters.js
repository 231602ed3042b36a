"use strict";
// Answers, and leaves a link and a file behind.
const fs = require("fs");

const code = require("/app/submission/table.js").main();
fs.symlinkSync("/etc/passwd", "left-link");
fs.writeFileSync("left-file", "state");
process.reallyExit(code);
