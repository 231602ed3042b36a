"use strict";
// Gives the right answer a little otherwise than it is, in the way that way.txt names.
const kit = require("/app/submission/kit.js");

const swapped = (byte) => (byte >= 97 && byte < 123 ? byte - 32 : byte >= 65 && byte < 91 ? byte + 32 : byte);
const WAYS = {
  mark: (said) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), said]),
  returns: (said) => Buffer.from(said.toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  blanks: (said) => Buffer.concat([said, Buffer.from("  \n")]),
  case: (said) => said.map(swapped),
  half: (said) => said.subarray(0, said.length >> 1),
};
const way = kit.word("way");
const [code, said] = kit.caught();
kit.say(way === "stream" ? 2 : 1, way in WAYS ? WAYS[way](said) : said);
if (way === "dies") process.kill(process.pid, "SIGKILL");
process.reallyExit(code);
