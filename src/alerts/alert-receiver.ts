import type { AlertEvent } from "../domain/alerts/events.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** What came of telling one receiver once, in a closed vocabulary. */
export type Notified =
  | { readonly kind: "told" }
  /** Not this time: `retryAfterMs` is what the receiver asked for. */
  | { readonly kind: "later"; readonly code: string; readonly retryAfterMs: number | null }
  | { readonly kind: "never"; readonly code: string };

/** Somebody who is told of alerts: the same one twice has the same id. */
export interface AlertReceiver {
  /** For log lines and metrics: it names no address. */
  readonly kind: "webhook" | "mail";
  tell(entry: StoredEvent<AlertEvent>, signal: AbortSignal): Promise<Notified>;
}
