import { once } from "node:events";
import { parentPort } from "node:worker_threads";
import { type CompleteConfig, readConfig } from "../config.ts";
import { createLifecycle } from "../lifecycle.ts";
import { createLogger } from "../logger.ts";
import { untilInterrupted, WaitInterrupted } from "../nats/patience.ts";
import { connectParts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import type { ThreadOrder } from "./projector-thread.ts";
import { createStarting } from "./startup.ts";

/**
 * The whole of the thread that `loadProjectorThread` makes: an order, the word that it is ready, the word that all of the
 * process is stopping, and the one to stop.
 */
async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  // Nobody else has the other end.
  const [{ isTerminal, ...found }] = (await once(port, "message")) as [ThreadOrder];
  const stopping = new AbortController();
  const config: CompleteConfig = { ...readConfig(process.env), ...found, roles: new Set(["projector"]) };
  const logger = createLogger(config.logLevel, isTerminal, config.processName);
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
    // The thread ends when nothing keeps it: else listening to words would.
    port.unref();
  }
}

if (parentPort === null) throw new Error("This is no program of its own.");
await serve(parentPort);
