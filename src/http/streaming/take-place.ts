import type { Live } from "../../live/live.ts";
import type { Answer } from "../server/answer.ts";
import { refuseForNow } from "../server/problem.ts";
import type { ApiRequest } from "../server/route.ts";

export type TakenPlace =
  | { readonly taken: true; readonly signal: AbortSignal }
  | { readonly taken: false; readonly answer: Answer };

type Asked = Pick<ApiRequest, "context" | "gone" | "isStillAdmitted">;

/** For an answer that goes on or waits: as long as the client stays and may, and the service goes on. */
export function takePlace({ places }: Live, { context, gone, isStillAdmitted }: Asked): TakenPlace {
  const place = places.take(context.tenant, gone(), isStillAdmitted);
  if (place.outcome === "taken") return { taken: true, signal: place.signal };
  switch (place.limit) {
    case "tenant":
      return refused(refuseForNow("too-many-streams", "This tenant has as many streams open as it may.", 5));
    case "process":
      return refused(refuseForNow("no-stream-left", "This instance has as many streams open as it can serve.", 5));
    case "closing":
      return refused(refuseForNow("no-stream-left", "This instance is about to stop.", 1));
  }
}

const refused = (answer: Answer): TakenPlace => ({ taken: false, answer });
