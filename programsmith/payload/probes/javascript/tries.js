"use strict";
// Answers a case exactly where the one thing can be done that its line of tries.txt names.
// So the verifier's own words tell what a case can do: AC says that it could. Lines of tries.txt stand in the order of
// the cases of table.txt, which lies beside it. Each try leaves the work directory as it was, for it belongs to the answer.
const { spawn, spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const HOME = "/app/submission";
const table = require(`${HOME}/table.js`);
const USUAL = new Set(
  ("app bin boot dev etc home lib lib32 lib64 libx32 logs media mnt opt " +
    "proc root run sbin slots srv sys tmp usr var work").split(" "),
);
const CLOSED = ["/tests", "/solution", "/root", "/proc/1/environ", "/proc/1/mem", "/etc/shadow"];
const TEMPORARY = "/tmp";
const MEMORY = "/dev/shm"; // the case's own, as the one before
const OWN = new Set(["/work", TEMPORARY, MEMORY, "/proc", "/slots", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty"]);
const LEFT = "left-by-a-case";
const MIB = 1 << 20;
const BURNERS = 6;
const BURNED = 120; // milliseconds of each
const HOLDERS = 4;
const FILLING = 16; // files of one megabyte
const HOT = "let n = 0; for (let i = 0; i < 1e6; i++) n += i & 3; process.exit(n === 1499998 || n > 0 ? 0 : 1)";

/** Whether a call gives something true; not where it fails. */
function can(call) {
  try {
    return Boolean(call());
  } catch {
    return false;
  }
}

function lists(place) {
  return can(() => {
    if (fs.statSync(place).isDirectory()) return fs.readdirSync(place).length;
    fs.closeSync(fs.openSync(place, "r"));
    return true;
  });
}

function tops() {
  try {
    return fs.readdirSync("/").map((name) => `/${name}`);
  } catch {
    return [];
  }
}

function leaves(place) {
  return can(() => {
    fs.closeSync(fs.openSync(place, "a", 0o644));
    return true;
  });
}

function wait(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Another process of the interpreter. */
function own(script, how) {
  return spawn(process.execPath, [...process.execArgv, "-e", script], { stdio: "ignore", ...how });
}

function starts(program, words = []) {
  const done = spawnSync(program, words, { stdio: "ignore", env: {} });
  return !done.error;
}

/** A file of another's machine code, which a folder is to take. */
function carried(folder, source, name, use) {
  const place = path.join(folder, name);
  return can(() => {
    fs.copyFileSync(source, place);
    try {
      fs.chmodSync(place, 0o700);
      return use(place);
    } finally {
      fs.unlinkSync(place);
    }
  });
}

/** A shared object that this process has loaded. */
function library() {
  const found = /(\/\S*libm[.-]\S*)$/m.exec(fs.readFileSync("/proc/self/maps", "latin1"));
  return found ? found[1] : "/no/library";
}

/** Whether the loader takes a file in: what it is no module of makes no difference. */
function maps(place) {
  try {
    process.dlopen({ exports: {} }, place);
  } catch (fault) {
    return !/failed to map|cannot open|Operation not permitted|Permission denied|invalid ELF|too short/.test(fault.message);
  }
  return true;
}

const TRIES = {
  nothing: () => true,
  reads() {
    const odd = tops().filter((place) => !USUAL.has(place.slice(1)) && !place.startsWith("/."));
    return [...CLOSED, ...odd].some(lists);
  },
  writes() {
    const below = ["/var", "/dev"].filter(lists).flatMap((at) => fs.readdirSync(at).map((name) => `${at}/${name}`));
    const folders = new Set(["/", HOME, ...tops(), ...below].filter((place) => !OWN.has(place)));
    return [...folders].some((folder) => {
      const place = path.join(folder, LEFT);
      return leaves(place) && can(() => fs.unlinkSync(place) === undefined);
    });
  },
  finds: () => [TEMPORARY, MEMORY].some((folder) => fs.existsSync(`${folder}/${LEFT}`)),
  others() {
    const found = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && ![1, process.pid].includes(Number(name)));
    return found.some((name) => ["cmdline", "environ", "maps"].some((what) => lists(`/proc/${name}/${what}`)));
  },
  privileged() {
    const said = Object.fromEntries(
      fs.readFileSync("/proc/self/status", "latin1").split("\n").map((line) => line.split(":\t")),
    );
    return process.geteuid() === 0 || BigInt(`0x${said.CapEff}`) !== 0n || said.NoNewPrivs !== "1" || said.Seccomp !== "2";
  },
  executes: () => [TEMPORARY, "."].some((folder) => carried(folder, "/usr/bin/env", "program-of-a-case", (at) => starts(at))),
  loads: () => [TEMPORARY, "."].some((folder) => carried(folder, library(), "code-of-a-case", maps)),
  makes() {
    const compiles = spawnSync(process.execPath, ["--sparkplug", "--always-sparkplug", "-e", HOT], { stdio: "ignore" });
    return TRIES.loads() || compiles.status === 0;
  },
  cpu() {
    const script = `while (process.cpuUsage().user < ${BURNED * 1000});`;
    for (let turn = 0; turn < BURNERS; turn++) {
      const done = spawnSync(process.execPath, [...process.execArgv, "-e", script], { stdio: "ignore" });
      if (done.error || done.status !== 0) return false;
    }
    return true;
  },
  memory() {
    const script = `const held = Buffer.alloc(${40 * MIB}, 1); setTimeout(() => held, 20000)`;
    const held = Array.from({ length: HOLDERS }, () => own(script));
    wait(1500);
    return held.every((one) => one.pid !== undefined && can(() => process.kill(one.pid, 0)));
  },
  processes() {
    return Array.from({ length: 40 }, () => own("setTimeout(() => {}, 20000)")).every((one) => one.pid !== undefined);
  },
  work() {
    let full = true;
    for (let number = 0; number < FILLING; number++) {
      full &&= can(() => fs.writeFileSync(`${TEMPORARY}/filling${number}`, Buffer.alloc(MIB)) === undefined);
    }
    return full;
  },
  wall() {
    wait(2500);
    return true;
  },
};

/** Look up which try is this case's, make it, and answer where it could be made. */
function main() {
  const lines = fs.readFileSync(table.TABLE, "latin1").split("\n");
  const at = table.find(lines);
  const names = fs.readFileSync(`${HOME}/tries.txt`, "ascii").split(/\s+/);
  const name = names[lines.slice(0, at).filter((line) => line.startsWith("case ")).length];
  if (name !== "finds") [TEMPORARY, MEMORY].forEach((folder) => leaves(`${folder}/${LEFT}`));
  table.find = () => at;
  if (name === "stream") {
    const say = fs.writeSync; // the whole answer, on the other stream
    fs.writeSync = (into, ...rest) => say(into === 1 ? 2 : into, ...rest);
    return table.main();
  }
  if (name !== "output") return can(TRIES[name]) ? table.main() : 1;
  table.main();
  for (;;) table.say(1, Buffer.from("more ".repeat(4096)));
}

process.reallyExit(main());
