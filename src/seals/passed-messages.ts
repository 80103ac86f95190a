import { type LogMessage, leafHashOf, readEnvelopes } from "../event-log/log-message.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { events } from "../schemas/events.ts";
import type { LogSource } from "./check.ts";

/** A message that readers of the log skip, the operator who decided so, and the reason. */
export type PassedMessage = {
  readonly sequence: number;
  readonly subject: string;
  readonly passedBy: string;
  readonly passedAt: string;
  readonly reason: string;
  /** Whether the message is still the one that the decision names; if not, the decision has no effect. */
  readonly holds: boolean;
};

const passSubject = "jobs._service.log.pass";
const checkedPass = checkedBy(events.MessagePassed.schema);

export const isPassSubject = (subject: string): boolean =>
  subject === passSubject || subject.endsWith(`.${passSubject}`);

/** Whether an entry is the decision that readers skip this message, in its present form. */
export function isPassOf(message: LogMessage, { subject, body }: LogMessage): boolean {
  const pass = isPassSubject(subject) ? readPass(body)?.data : undefined;
  return pass?.sequence === message.sequence && pass.sha256 === leafHashOf(message).toString("hex");
}

/** The decisions, compared with the messages that they name. */
export async function readPassed(source: LogSource, passes: readonly LogMessage[]): Promise<readonly PassedMessage[]> {
  const passed: PassedMessage[] = [];
  for (const { body } of passes) {
    const pass = readPass(body);
    if (pass === null) continue;
    const { data, passedBy, passedAt } = pass;
    const { sequence, subject, reason, sha256 } = data;
    const message = await messageAt(source, sequence);
    const holds = message !== null && leafHashOf(message).toString("hex") === sha256;
    passed.push({ sequence, subject, passedBy, passedAt, reason, holds });
  }
  return passed;
}

function readPass(body: Uint8Array) {
  try {
    const pass = readEnvelopes(body).find(({ type }) => type === "MessagePassed");
    return pass === undefined ? null : { data: checkedPass(pass.data), passedBy: pass.actor, passedAt: pass.time };
  } catch {
    return null;
  }
}

async function messageAt(source: LogSource, sequence: number): Promise<LogMessage | null> {
  for await (const [first] of source.messages(sequence - 1, "all")) return first?.sequence === sequence ? first : null;
  return null;
}
