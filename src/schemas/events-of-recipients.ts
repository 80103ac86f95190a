import { Type } from "typebox";
import { suppressionReasons } from "../domain/recipients/events.ts";
import { data, natural, on, orNull, positive, sha256, turn } from "./event-fields.ts";

const ofRecipients = on("facts");

const deliveryError = data({
  code: Type.String(),
  message: Type.String(),
  replyCode: orNull(Type.Integer()),
  statusCode: orNull(Type.String()),
});
const failedDelivery = { ...turn, recipient: natural, error: deliveryError };
const answeredDelivery = { ...failedDelivery, route: Type.Optional(Type.String()) };

/** The outcomes of the recipients of a job, and the progress of the file that it makes. */
export const eventsOfRecipients = {
  RecipientsClaimed: ofRecipients(
    { ...turn, worker: Type.String(), recipients: Type.Array(natural, { minItems: 1 }) },
    { run: 1, attempt: 1, worker: "worker-1", recipients: [0, 1, 2] },
  ),
  RecipientsReleased: ofRecipients(
    { ...turn, recipients: Type.Array(natural, { minItems: 1 }) },
    { run: 1, attempt: 1, recipients: [0, 1, 2] },
  ),
  RecipientSent: ofRecipients(
    {
      ...turn,
      recipient: natural,
      messageId: Type.String(),
      response: Type.String(),
      route: Type.Optional(Type.String()),
    },
    { run: 1, attempt: 1, recipient: 1, messageId: "<0.7f3c@waybill.localhost>", response: "250 2.0.0 OK" },
  ),
  RecipientDeferred: ofRecipients(answeredDelivery, {
    run: 1,
    attempt: 1,
    recipient: 2,
    error: {
      code: "deferred",
      message: "451 4.7.1 greylisted, try again later",
      replyCode: 451,
      statusCode: "4.7.1",
    },
  }),
  RecipientFailed: ofRecipients(answeredDelivery, {
    run: 1,
    attempt: 1,
    recipient: 0,
    error: { code: "rejected", message: "550 5.1.1 <…> mailbox unavailable", replyCode: 550, statusCode: "5.1.1" },
  }),
  RecipientUnknown: ofRecipients(failedDelivery, {
    run: 1,
    attempt: 1,
    recipient: 0,
    error: {
      code: "connection-lost",
      message: "The connection was lost before the answer came.",
      replyCode: null,
      statusCode: null,
    },
  }),
  ResultStored: ofRecipients(
    {
      ...turn,
      of: Type.Enum(["jobs", "logs", "events"]),
      format: Type.Enum(["csv", "ndjson"]),
      chunks: positive,
      rows: natural,
      bytes: natural,
      sha256: orNull(sha256),
    },
    {
      run: 1,
      attempt: 1,
      of: "logs",
      format: "csv",
      chunks: 3,
      rows: 4200,
      bytes: 1048576,
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
  ),
  RecipientSuppressed: ofRecipients(
    {
      ...turn,
      recipient: natural,
      reason: Type.Enum([...suppressionReasons]),
    },
    { run: 1, attempt: 1, recipient: 0, reason: "unsubscribe" },
  ),
} as const;
