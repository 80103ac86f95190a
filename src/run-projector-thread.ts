import { once } from "node:events";
import { parentPort } from "node:worker_threads";
import { type CompleteConfig, readConfig } from "./config.ts";
import { untilInterrupted, WaitInterrupted } from "./event-log/patience.ts";
import { createLifecycle } from "./lifecycle.ts";
import { createLogger } from "./logger.ts";
import { connectParts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import type { ThreadOrder } from "./projector-thread.ts";
import { createStarting } from "./starting.ts";

/** The whole of the thread that `loadProjectorThread` makes: an order, the word that it is ready, and the word to stop. */
async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  // Nobody else has the other end.
  const [{ isTerminal, ...found }] = (await once(port, "message")) as [ThreadOrder];
  const stopping = new AbortController();
  const toldToStop = once(port, "message").then(() => stopping.abort());
  const config: CompleteConfig = { ...readConfig(process.env), ...found, roles: new Set(["projector"]) };
  const logger = createLogger(config.logLevel, isTerminal, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    const { patiently } = createStarting(config.nats.servers, logger, stopping.signal);
    const parts = await connectParts(config, logger, null, lifecycle, patiently);
    await untilInterrupted(startProjecting(parts), stopping.signal);
    port.postMessage("ready");
    await toldToStop;
  } catch (failure) {
    if (!(failure instanceof WaitInterrupted)) throw failure;
  } finally {
    await lifecycle.stop();
  }
}

if (parentPort === null) throw new Error("This is no program of its own.");
await serve(parentPort);
