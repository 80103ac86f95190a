import type { ComponentChildren } from "preact";
import { clock } from "../reading/clock.ts";
import { absolute, relative } from "../reading/words.ts";

type Tone = "good" | "bad" | "busy" | "held" | "quiet";

const tones: Readonly<Record<string, Tone>> = {
  completed: "good",
  success: "good",
  sent: "good",
  active: "good",
  fired: "good",
  skipped: "held",
  delivered: "good",
  failed: "bad",
  "completed-with-failures": "held",
  "awaiting-approval": "held",
  open: "bad",
  up: "good",
  degraded: "held",
  down: "bad",
  live: "good",
  rebuilding: "busy",
  stopped: "bad",
  closed: "good",
  usable: "good",
  partly: "held",
  away: "bad",
  "half-open": "held",
  processing: "busy",
  queued: "busy",
  retrying: "held",
  deferred: "held",
  paused: "held",
  unknown: "held",
  suppressed: "held",
  bounced: "bad",
  complained: "bad",
  fine: "good",
  warning: "held",
  serious: "bad",
};

/** A status in its colour; the word alone carries the meaning, too. */
export const Status = ({ of }: { readonly of: string }) => <span class={`status ${tones[of] ?? "quiet"}`}>{of}</span>;

/** The time since then, and the exact time. */
export const Ago = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span class="quiet">–</span>
  ) : (
    <time dateTime={at} title={at} class="ago">
      {relative(Date.parse(at), clock.value)} <small>{absolute(at)}</small>
    </time>
  );

export const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
