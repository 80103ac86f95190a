import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** The system takes the ports that it chooses itself, for connections and for servers, from 32768 on. */
const [lowest, highest] = [20_000, 32_000];
const tries = 50;

/** A port of 127.0.0.1 that was free a moment ago, and that the system gives to no one who does not ask for it. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < tries; tried += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port of ${tries} between ${lowest} and ${highest} is free on 127.0.0.1`);
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
