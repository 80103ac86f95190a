import type { Progress } from "../../history/live/changes.ts";
import { beginOfStream, comment, heartbeat, heartbeatMs } from "./event-stream.ts";

/** Progress that a client watches; `sleep` ends with the next change. */
export type Watch<Moment> = Progress<Moment> & { sleep(ms: number): Promise<void> };

type Shown<Moment> = {
  readonly frame: (event: "status" | "progress", moment: Moment) => string;
  readonly hasEnded: (moment: Moment) => boolean;
  readonly betweenProgressMs: number;
};

/** Each change of status at once, all other progress as often as it may be, and the end. */
export async function* progressFrames<Moment>(
  watch: Watch<Moment>,
  { frame, hasEnded, betweenProgressMs }: Shown<Moment>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let progressAt = 0;
  let heartbeatAt = performance.now() + heartbeatMs;
  yield beginOfStream;
  while (!signal.aborted) {
    const now = performance.now();
    const status = watch.takeStatus();
    const progress = status === null && now >= progressAt ? watch.takeProgress() : null;
    if (status !== null) {
      yield frame("status", status);
      if (hasEnded(status) && !watch.hasStatus()) return;
    } else if (watch.isLost()) {
      yield comment("This client does not keep up. Reconnect with Last-Event-ID.");
      return;
    } else if (progress !== null) {
      yield frame("progress", progress);
      progressAt = now + betweenProgressMs;
    } else if (now >= heartbeatAt) {
      yield heartbeat;
    } else {
      await watch.sleep((watch.hasProgress() ? Math.min(progressAt, heartbeatAt) : heartbeatAt) - now);
      continue;
    }
    heartbeatAt = now + heartbeatMs;
  }
}
