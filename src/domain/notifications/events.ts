import type { Message } from "../message.ts";

/** Whoever asked for the job has read that `run` of it ended. Who it was, the event's actor tells. */
export type NotificationEvent = Message<"NotificationRead", { readonly run: number }>;
