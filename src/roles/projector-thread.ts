import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { CompleteConfig } from "../config.ts";
import type { Parts } from "./parts.ts";

/** What the thread cannot read from the environment. */
export type ThreadOrder = Pick<CompleteConfig, "nats" | "mysqlUrl" | "smtpUrl" | "processName"> & {
  readonly isTerminal: boolean;
};

/**
 * Loads the projectors into a thread of their own. What comes back starts them there, in the place of `startProjecting`:
 * in a process that also mails, each would wait for the other while a second core is idle.
 */
export function loadProjectorThread(isTerminal: boolean): (parts: Parts) => Promise<void> {
  const thread = new Worker(new URL(`./run-projector-thread${extension}`, import.meta.url));
  // A process that does not get as far as starting them is not kept alive by it.
  thread.unref();
  return async ({ config: { nats, mysqlUrl, smtpUrl, processName }, lifecycle }) => {
    const order: ThreadOrder = { nats, mysqlUrl, smtpUrl, processName, isTerminal };
    const ended = new Promise((resolve) => thread.once("exit", resolve));
    thread.ref();
    thread.postMessage(order);
    lifecycle.stopping.addEventListener("abort", () => thread.postMessage("stopping"), { once: true });
    lifecycle.started("the thread of the projectors", async () => {
      thread.postMessage("stop");
      await ended;
    });
    // An error until then is one of the start; at any other time it ends the process, as one of the main thread does.
    await once(thread, "message");
  };
}

/** That of this file: the compiler leaves the names of threads as they are. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
