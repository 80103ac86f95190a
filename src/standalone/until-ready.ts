import { setTimeout as pause } from "node:timers/promises";
import { CannotStart } from "./cannot-start.ts";
import type { ChildServer } from "./child-server.ts";

const deadlineMs = 60_000;

/**
 * Asks a server that was just started until it answers with something, and gives that back. A server that ends
 * meanwhile, or does not answer in time, is stopped and reported with its last words.
 */
export async function untilReady<Answer>(
  server: ChildServer,
  name: string,
  ask: () => Promise<Answer | null>,
): Promise<Answer> {
  try {
    return await askUntilAnswered(server, name, ask);
  } catch (failure) {
    await server.stop();
    throw failure;
  }
}

async function askUntilAnswered<Answer>(
  server: ChildServer,
  name: string,
  ask: () => Promise<Answer | null>,
): Promise<Answer> {
  const deadline = Date.now() + deadlineMs;
  let exitCode: number | null = null;
  void server.exited.then((code) => {
    exitCode = code;
  });
  for (;;) {
    // Asked first, so that an answer by a stranger on the same port is not taken for one by a server that has ended.
    const answer = await ask();
    if (exitCode !== null) {
      throw new CannotStart(`${name} ended with code ${exitCode} while starting. ${await server.lastWords()}`);
    }
    if (answer !== null) return answer;
    if (Date.now() > deadline) {
      throw new CannotStart(`${name} was not ready after ${deadlineMs / 1000} s. ${await server.lastWords()}`);
    }
    await pause(10);
  }
}
