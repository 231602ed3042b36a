"use strict";
// Answers, and adds a NUL and more.
const kit = require("/app/submission/kit.js");

const code = kit.answer();
kit.say(1, Buffer.from("\0and more"));
process.reallyExit(code);
