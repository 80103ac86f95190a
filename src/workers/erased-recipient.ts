import type { Served } from "./serve-recipients.ts";

/** Of a recipient who was erased before the job was run again: nobody knows any more whom to serve. */
export const servedErased: Served = {
  messageId: "",
  outcome: {
    kind: "failed",
    error: { code: "recipient-erased", message: "This recipient was erased.", replyCode: null, statusCode: null },
  },
};
