"use strict";
// Answers after a time without CPU time.
const table = require("/app/submission/table.js");

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
process.reallyExit(table.main());
