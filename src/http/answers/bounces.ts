import { Type } from "typebox";
import { bounceKinds, reportSources } from "../../domain/recipients/feedback.ts";
import { count, instant, jobId, named, orNull, text } from "./parts.ts";

const feedback = Type.Enum([...bounceKinds.map((kind) => `${kind}-bounce` as const), "complaint"]);

/** `why` is given where nothing follows from the message. */
export const takenReport = named("TakenReport", {
  result: Type.Enum(["recorded", "known", "unattributed", "nothing"]),
  why: orNull(Type.Enum(["delivered", "delayed", "auto-reply", "not-a-report"])),
  feedback: orNull(feedback),
  jobId: orNull(jobId),
  recipient: orNull(count),
});

export const bouncesTaken = named("BouncesTaken", {
  events: count,
  recorded: count,
  known: count,
  unattributed: count,
  nothing: count,
});

export const unattributedReports = named("UnattributedReports", {
  data: Type.Array(
    named("UnattributedReport", {
      receivedAt: instant,
      source: Type.Enum([...reportSources]),
      feedback: text,
      diagnostic: text,
      bytes: count,
      reportSha256: text,
    }),
  ),
});
