"use strict";
// Answers with another exit code.
process.reallyExit(require("/app/submission/table.js").main() ^ 1);
