"use strict";
// Burns CPU in several processes, each within the limit, and then answers.
const { spawnSync } = require("child_process");

const PROCESSES = 3;
const SCRIPT = "while (process.cpuUsage().user < 120000);"; // microseconds
for (let count = 0; count < PROCESSES; count++) {
  if (spawnSync(process.execPath, [...process.execArgv, "-e", SCRIPT], { stdio: "ignore" }).status !== 0) process.reallyExit(1);
}
process.reallyExit(require("/app/submission/table.js").main());
