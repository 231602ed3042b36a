"use strict";
// Tries every way out that it knows and prints one line per way: `NAME open` or `NAME shut REASON`.
// In: argv = TCP port, UDP port, name of an abstract socket, path of a socket, then addresses; in a submission, what its
// arguments.txt says. Each listener of the other side answers what it gets; a way is open when the answer arrives.
const dgram = require("dgram");
const fs = require("fs");
const net = require("net");

const ASK = Buffer.from("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05probe\x07invalid\x00\x00\x01\x00\x01", "latin1");
const SECONDS = 3;
const ARGUMENTS = "/app/submission/arguments.txt";

function connected(options) {
  return new Promise((resolve, reject) => {
    const way = net.connect(options, () => way.write(ASK));
    way.setTimeout(SECONDS * 1000, () => way.destroy(new Error("timeout")));
    way.on("data", () => resolve(way.destroy()));
    way.on("error", reject);
    way.on("close", () => reject(new Error("closed without an answer")));
  });
}

function sent(address, port) {
  return new Promise((resolve, reject) => {
    const way = dgram.createSocket(address.includes(":") ? "udp6" : "udp4");
    const late = setTimeout(() => reject(new Error("timeout")), SECONDS * 1000);
    const over = (end, value) => {
      clearTimeout(late);
      end(value);
    };
    way.on("message", () => over(resolve));
    way.on("error", (fault) => over(reject, fault));
    way.send(ASK, port, address, (fault) => fault && over(reject, fault));
  });
}

function* ways([tcp, udp, abstract, path, ...addresses]) {
  for (const a of addresses) {
    yield [`tcp:${a}`, () => connected({ host: a, port: Number(tcp) })];
    yield [`udp:${a}`, () => sent(a, Number(udp))];
  }
  yield ["abstract", () => connected({ path: `\0${abstract}` })];
  yield ["socket", () => connected({ path })];
}

async function main() {
  const words = fs.existsSync(ARGUMENTS) ? fs.readFileSync(ARGUMENTS, "ascii").split(/\s+/).filter(Boolean) : process.argv.slice(2);
  for (const [name, attempt] of ways(words)) {
    try {
      await attempt();
      console.log(name, "open");
    } catch (shut) {
      console.log(name, "shut", shut.errno ? Math.abs(shut.errno) : "Error");
    }
  }
  process.exit(0);
}

main();
