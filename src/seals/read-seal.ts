import type { LogSealed } from "../domain/seals/events.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { cloudEvent } from "../schemas/cloud-event.ts";
import { eventSchemas } from "../schemas/events.ts";
import type { StoredSeal } from "./seal.ts";

const checkedEnvelope = checkedBy(cloudEvent);
const checkedSeal = checkedBy(eventSchemas.LogSealed);

/** Where seals stand: nothing there is a tenant's, as no tenant's name begins so. */
const sealSubject = "jobs._service.log.seal";

/** Whatever the prefix of the log is: a stream has one for all that it holds. */
export const isSealSubject = (subject: string): boolean =>
  subject === sealSubject || subject.endsWith(`.${sealSubject}`);

/** A message on the subject of seals as what it says; null where that is no seal of this release. */
export function readSeal({ sequence, body }: Pick<LogMessage, "sequence" | "body">): StoredSeal | null {
  try {
    const { type, time, data } = checkedEnvelope(JSON.parse(Buffer.from(body).toString()));
    const wanted: LogSealed["type"] = "LogSealed";
    return type === wanted ? { ...checkedSeal(data), sequence, sealedAt: time } : null;
  } catch {
    return null;
  }
}
