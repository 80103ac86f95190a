import { once } from "node:events";
import { parentPort } from "node:worker_threads";
import { untilInterrupted, WaitInterrupted } from "../nats/patience.ts";
import { createLifecycle } from "../process/lifecycle.ts";
import { createLogger } from "../process/logger.ts";
import { nameSourcesInStackTraces } from "../process/stack-traces.ts";
import { type CompleteConfig, readConfig } from "../settings/config.ts";
import { connectParts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import type { ThreadOrder } from "./projector-thread.ts";
import { createStarting } from "./startup.ts";

/**
 * Runs the thread that `loadProjectorThread` creates. The protocol: the main thread sends a ThreadOrder, this thread
 * answers "ready", and the main thread sends "stopping" when the process begins to stop and "stop" for this thread.
 */
async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  // Only loadProjectorThread has the other end of the port, so the cast is safe.
  const [{ logForm, ...found }] = (await once(port, "message")) as [ThreadOrder];
  const stopping = new AbortController();
  const config: CompleteConfig = { ...readConfig(process.env), ...found, roles: new Set(["projector"]) };
  const logger = createLogger(config.logLevel, logForm, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  port.on("message", (word) => (word === "stop" ? stopping.abort() : lifecycle.announceStop()));
  try {
    const { patiently } = createStarting(config.nats.servers, logger, stopping.signal);
    const parts = await connectParts(config, logger, null, lifecycle, patiently);
    await untilInterrupted(startProjecting(parts), stopping.signal);
    port.postMessage("ready");
    if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  } catch (failure) {
    if (!(failure instanceof WaitInterrupted)) throw failure;
  } finally {
    await lifecycle.stop();
    // The thread ends once nothing keeps it alive; a referenced port would.
    port.unref();
  }
}

nameSourcesInStackTraces();
if (parentPort === null) throw new Error("This file runs only as a thread; it is not a program.");
await serve(parentPort);
