import { caughtUp } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** The read models that show what was sent, or to whom. */
const showing = ["jobs", "logs", "recipients", "dead-letters"];

/**
 * Waits a little until no read model shows what was just erased, whoever asks. One that is away has not forgotten it,
 * and does so before it goes on: the event stands in the log.
 */
export async function untilForgotten(readPosition: RouteDependencies["readPosition"], sequence: number): Promise<void> {
  await Promise.allSettled(showing.map((projection) => caughtUp(readPosition, projection, sequence)));
}
