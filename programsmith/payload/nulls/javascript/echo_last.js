"use strict";
// Prints its last argument. Solves nothing.
const last = process.argv.length > 2 ? process.argv[process.argv.length - 1] : "";
process.stdout.write(`${last}\n`);
