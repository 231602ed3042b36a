"use strict";
// Does nothing.
process.exitCode = 0;
