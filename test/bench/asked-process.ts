import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Lifecycle } from "../../src/process/lifecycle.ts";
import type { Answered, Reply } from "./answer-orders.ts";

/** A process of its own that does what it is asked, one order at a time. */
export type AskedProcess<Order, Result> = {
  readonly pid: number;
  ask(order: Order): Promise<Answered<Result>>;
};

/** Starts a file that answers orders (see answer-orders.ts); the caller says which kind it understands. */
export function startAskedProcess<Order, Result>(lifecycle: Lifecycle, file: URL): AskedProcess<Order, Result> {
  const path = fileURLToPath(file);
  // It inherits the options of this process, and so understands TypeScript.
  const child = fork(path, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  lifecycle.started(path, async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const died = exited.then(([code]): never => {
    throw new Error(`${path} ended with ${code}`);
  });
  // The failure reaches the caller that asked; no other handler is needed.
  died.catch(() => {});
  return {
    // Only a child that could not be started has none, and that one has ended.
    pid: child.pid ?? 0,
    ask: async (order) => {
      child.send(order as object);
      const [reply] = (await Promise.race([once(child, "message"), died])) as [Reply<Result>];
      if ("failure" in reply) throw new Error(`${path}: ${reply.failure}`);
      return reply;
    },
  };
}
