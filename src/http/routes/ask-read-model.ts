import { isDatabaseTrouble } from "../../database/database-failure.ts";
import { type Checked, failed, passed, shown } from "../../schemas/fault.ts";
import type { Answer } from "../server/answer.ts";
import { ReadModelUnavailable } from "../server/failure.ts";
import { refuseForNow } from "../server/problem.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const queryTimeoutMs = 5000;
/** How long a read waits for what it was asked to include. */
const catchUpMs = 2000;

/** Asks a read model; where its database is away or silent, throws ReadModelUnavailable. */
export async function askReadModel<Result>(query: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  // Not the platform's promise of a pause: to abort one costs more than the query.
  const late = new Promise<never>((_, reject) => {
    const failure = (): void => reject(new ReadModelUnavailable(`There was no answer within ${queryTimeoutMs} ms.`));
    timer = setTimeout(failure, queryTimeoutMs);
  });
  try {
    return await Promise.race([query(), late]);
  } catch (failure) {
    throw explainDatabase(failure);
  } finally {
    clearTimeout(timer);
  }
}

/** The same failure, told as one of a read model where its database is away. */
export const explainDatabase = (failure: unknown): unknown =>
  isDatabaseTrouble(failure) ? new ReadModelUnavailable("The database cannot be asked.", { cause: failure }) : failure;

/** The sequence that an answer has to include, from the header of that name; 0 where there is none. */
export function readMinSequence(header: string | null): Checked<number> {
  if (header === null) return passed(0);
  const sequence = /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(sequence)) return passed(sequence);
  const message = `Min-Sequence is ${shown(header)}; expected the Event-Sequence of an earlier answer`;
  return failed([{ pointer: "Min-Sequence", message }]);
}

type ReadPosition = RouteDependencies["readPosition"];

/** Whether the projection came as far as the sequence in the time that a read may take. */
export const caughtUp = (readPosition: ReadPosition, projection: string, sequence: number): Promise<boolean> =>
  sequence === 0 ? Promise.resolve(true) : askReadModel(() => readPosition.waitFor(projection, sequence, catchUpMs));

/**
 * What a read model answers once it includes a sequence, or after the time that a read may take. It is asked first, and
 * waited for only where it is behind: mostly it is not.
 */
export async function askIncluding<Result extends { readonly readSequence: number }>(
  readPosition: ReadPosition,
  projection: string,
  sequence: number,
  query: () => Promise<Result>,
): Promise<Result> {
  const result = await askReadModel(query);
  if (result.readSequence >= sequence) return result;
  await caughtUp(readPosition, projection, sequence);
  return askReadModel(query);
}

/** Null once the projection has come as far as was asked; else the refusal. */
export async function awaitMinSequence(
  readPosition: ReadPosition,
  projection: string,
  sequence: number,
): Promise<Answer | null> {
  return (await caughtUp(readPosition, projection, sequence)) ? null : refuseBehind(sequence);
}

export const refuseBehind = (sequence: number): Answer =>
  refuseForNow("read-model-behind", `It has not come as far as sequence ${sequence} yet. Try again.`, 1);

export const readSequenceHeader = (sequence: number): Readonly<Record<string, string>> => ({
  "Read-Sequence": String(sequence),
});
