"use strict";
// Says hello: proves that a program builds and runs.
console.log("hello from the run stage");
