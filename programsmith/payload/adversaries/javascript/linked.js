"use strict";
// Answers from a table in a folder that is a link.
process.reallyExit(require("/app/submission/kit.js").answer("/app/submission/data/table.txt"));
