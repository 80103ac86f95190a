import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { LogForm } from "../process/logger.ts";
import type { CompleteConfig } from "../settings/config.ts";
import type { Parts } from "./parts.ts";

/** What the thread cannot read from the environment. */
export type ThreadOrder = Pick<CompleteConfig, "nats" | "mysqlUrl" | "smtpUrl" | "processName"> & {
  readonly logForm: LogForm;
};

/**
 * Loads the projectors into a thread of their own and returns a function that starts them there, in place of
 * `startProjecting`. On the main thread of a process that also mails, projectors and mailer would wait for each other
 * while a second core is idle.
 */
export function loadProjectorThread(logForm: LogForm): (parts: Parts) => Promise<void> {
  const thread = new Worker(new URL(`./run-projector-thread${extension}`, import.meta.url));
  // The thread must not keep a process alive that fails before it starts the projectors.
  thread.unref();
  return async ({ config: { nats, mysqlUrl, smtpUrl, processName }, lifecycle }) => {
    const order: ThreadOrder = { nats, mysqlUrl, smtpUrl, processName, logForm };
    const ended = new Promise((resolve) => thread.once("exit", resolve));
    thread.ref();
    thread.postMessage(order);
    lifecycle.stopping.addEventListener("abort", () => thread.postMessage("stopping"), { once: true });
    lifecycle.started("the thread of the projectors", async () => {
      thread.postMessage("stop");
      await ended;
    });
    // An error before this message fails the start. A later error ends the process, as an error on the main thread does.
    await once(thread, "message");
  };
}

/** The extension of this file: the bundler rewrites imports but not the path of a thread, which it puts beside this one. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
