"use strict";
// Goes on printing after the right answer.
const kit = require("/app/submission/kit.js");

kit.answer();
for (;;) kit.say(1, Buffer.from("more ".repeat(4096)));
