import type { JobRejection } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import type { Fault } from "../schemas/fault.ts";

/** Why no job was made of a request. Nothing was stored but, for some, the content that no event names. */
export type Refusal =
  | { readonly code: "validation-failed"; readonly faults: readonly Fault[] }
  | { readonly code: "too-many-recipients"; readonly count: number }
  | {
      readonly code: "content-too-large";
      readonly of: "content" | "attachments";
      readonly bytes: number;
      readonly maxBytes: number;
    }
  /** May be over soon, as what follows it. */
  | { readonly code: "event-log-full" }
  | {
      readonly code: "quota-exceeded";
      readonly recipients: number;
      readonly limit: number;
      readonly left: number;
      readonly resetsAt: Instant;
    }
  /** The rules of the job said no. */
  | { readonly code: "rejected"; readonly rejection: JobRejection };
