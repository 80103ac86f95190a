import { once } from "node:events";
import { parentPort } from "node:worker_threads";
import { type CompleteConfig, readConfig } from "./config.ts";
import { createLifecycle } from "./lifecycle.ts";
import { createLogger } from "./logger.ts";
import { connectParts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import type { ThreadOrder } from "./projector-thread.ts";

/** The whole of the thread that `loadProjectorThread` makes: an order, the word that it is ready, and the word to stop. */
async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  // Nobody else has the other end.
  const [{ isTerminal, ...found }] = (await once(port, "message")) as [ThreadOrder];
  const toldToStop = once(port, "message");
  const config: CompleteConfig = { ...readConfig(process.env), ...found, roles: new Set(["projector"]) };
  const logger = createLogger(config.logLevel, isTerminal, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    await startProjecting(await connectParts(config, logger, null, lifecycle));
    port.postMessage("ready");
    await toldToStop;
  } finally {
    await lifecycle.stop();
  }
}

if (parentPort === null) throw new Error("This is no program of its own.");
await serve(parentPort);
