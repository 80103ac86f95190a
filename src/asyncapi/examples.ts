import type { WaybillEvent } from "../event-log/event-log.ts";
import type { EventType } from "../schemas/events.ts";
import { jobExamples } from "./job-examples.ts";
import { otherExamples } from "./other-examples.ts";

export type Examples = { readonly [Type in EventType]: Extract<WaybillEvent, { type: Type }> };

/** An event of every type: one that was added has to be shown. */
export const examples: Examples = { ...jobExamples, ...otherExamples };
