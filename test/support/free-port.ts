import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** The system takes the ports that it chooses itself, for connections and for servers, from 32768 on. */
const lowest = 20_000;
/** Mocha's processes beside each other have each a part of the ports: one is often chosen minutes before it is listened on. */
const parts = 8;
const portsOfPart = 1_500;
const tries = 50;

const first = lowest + (Number(process.env["MOCHA_WORKER_ID"] ?? 0) % parts) * portsOfPart;
let next = randomInt(portsOfPart);

/**
 * A port of 127.0.0.1 that was free a moment ago, that the system gives to no one who does not ask for it, and that no other test of this
 * run was given (until a process has asked for 1500).
 */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < tries; tried += 1) {
    const port = first + next;
    next = (next + 1) % portsOfPart;
    if (await isFree(port)) return port;
  }
  throw new Error(`No port of ${tries} from ${first} to ${first + portsOfPart} is free on 127.0.0.1`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
