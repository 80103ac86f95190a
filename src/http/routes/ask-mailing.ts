import { foldMailing } from "../../domain/mailing/mailing-view.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { type Answer, mailingNotFound } from "../server/answer.ts";
import { askIncluding, askReadModel, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "log" | "mailings" | "readPosition" | "ownWrites">;

/**
 * What a read model says of the parts of a mailing, no older than what the client asks for or this process has decided or
 * shown; or a refusal. The parts of a mailing that was taken out of the lists are in none either: then the answer is
 * empty.
 */
export async function askAboutParts<Result extends { readonly readSequence: number }>(
  { log, mailings, readPosition, ownWrites }: Dependencies,
  mailing: JobRef,
  minSequence: number,
  query: () => Promise<Result>,
): Promise<{ readonly found: Result } | { readonly refusal: Answer }> {
  const wanted = Math.max(minSequence, ownWrites.ofJob(mailing));
  const found = await askIncluding(readPosition, "jobs", wanted, query);
  // A slightly old answer is allowed; an empty one would be wrong.
  if (found.readSequence < minSequence) return { refusal: refuseBehind(wanted) };
  const projected = await askReadModel(() => mailings.find(mailing));
  if (projected.mailing !== null) return { found };
  const state = foldMailing((await log.readMailing(mailing)).map(({ event }) => event));
  if (state.status === "absent") return { refusal: mailingNotFound() };
  return state.isErased ? { found } : { refusal: refuseBehind(wanted) };
}
