import { type LogMessage, readEnvelopes } from "../event-log/log-message.ts";
import type { LogSource } from "./check.ts";
import type { ChainFinding } from "./check-chain.ts";

type Named = Pick<ChainFinding, "message" | "sequences">;

const namedAtMost = 10;

/**
 * A root shows that something in its range was altered, but not what. Some alterations are visible in the message itself:
 * it is no entry of events, names another job than its subject, or has an earlier time than the message before it.
 */
export async function findSuspects(
  source: LogSource,
  { from, to, message }: Pick<ChainFinding, "from" | "to" | "message">,
): Promise<Named> {
  const suspects: number[] = [];
  const reasons = new Set<string>();
  const ids = new Set<string>();
  let before = 0n;
  read: for await (const batch of source.messages(from - 1, "all")) {
    for (const found of batch) {
      if (found.sequence > to) break read;
      const storedAt = BigInt(found.storedAt);
      const reason = storedAt < before ? "stored before the one before it" : whySuspect(found, ids);
      before = storedAt > before ? storedAt : before;
      if (reason === null || suspects.length === namedAtMost) continue;
      suspects.push(found.sequence);
      reasons.add(reason);
    }
  }
  if (suspects.length === 0) return { message, sequences: [] };
  return {
    message: `${message} Look at ${suspects.join(", ")} first: ${[...reasons].join("; ")}.`,
    sequences: suspects,
  };
}

function whySuspect({ subject, body }: LogMessage, ids: Set<string>): string | null {
  try {
    for (const { id, subject: about } of readEnvelopes(body)) {
      if (!subject.split(".").includes(about)) return "about another job than it stands at";
      if (ids.has(id)) return "an event that stands there twice";
      ids.add(id);
    }
    return null;
  } catch {
    return "no entry of events";
  }
}
