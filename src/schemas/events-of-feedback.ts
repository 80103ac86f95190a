import { Type } from "typebox";
import { bounceKinds, reportSources } from "../domain/recipients/feedback.ts";
import { natural, on, orNull, sha256 } from "./event-fields.ts";

const feedback = on("feedback");

const report = { recipient: natural, source: Type.Enum([...reportSources]), reportSha256: sha256 };
const reportSha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** What came back about mails that were sent, and who asked for no more. */
export const eventsOfFeedback = {
  RecipientBounced: feedback(
    {
      ...report,
      bounce: Type.Enum([...bounceKinds]),
      statusCode: orNull(Type.String()),
      replyCode: orNull(Type.Integer()),
      diagnostic: Type.String(),
    },
    {
      recipient: 1,
      source: "dsn",
      reportSha256,
      bounce: "hard",
      statusCode: "5.1.1",
      replyCode: 550,
      diagnostic: "550 5.1.1 <…> mailbox unavailable",
    },
  ),
  RecipientComplained: feedback(
    { ...report, complaint: Type.String() },
    { recipient: 1, source: "arf", reportSha256, complaint: "abuse" },
  ),
  RecipientUnsubscribed: feedback({ recipient: natural }, { recipient: 1 }),
} as const;
