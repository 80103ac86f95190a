import { Type } from "typebox";
import { failed, faultAt, passed } from "../../schemas/fault.ts";
import { isObject } from "../../schemas/request-form.ts";
import { closed } from "../../schemas/request-schema.ts";
import { faultOfRounded, holdsRounded, variables } from "../../schemas/variables.ts";
import { whyNotToCall } from "../../signed-post/addresses.ts";
import { jobKind } from "../job-kind.ts";
import { createDeliveryWork } from "./delivery-work.ts";

/** A setting decides which addresses may be called; the check of the request applies it. */
const url = Type.String({ minLength: 1, maxLength: 2048, description: "a URL of at most 2048 characters" });

/** Types of events as Standard Webhooks names them. */
const event = Type.String({
  pattern: "^[A-Za-z0-9_.-]{1,100}$",
  description: "1 to 100 letters, digits, dots, _ and -, such as order.paid",
});

const payload = Type.Object(
  {
    event,
    data: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      additionalProperties: true,
      description: "an object",
    }),
  },
  { ...closed, description: "an object with event and data" },
);

/** One message to many URLs: a signed POST to each, where the recipient's own data overrides the data for all. */
export const webhookDeliver = jobKind({
  type: "webhook.deliver",
  fields: { payload },
  recipients: {
    key: "url",
    text: url,
    object: Type.Object({ url, variables: Type.Optional(variables) }, closed),
    expected: "a URL, or an object with one as url",
  },
  example: {
    type: "webhook.deliver",
    payload: { event: "order.paid", data: { order: 17 } },
    recipients: ["https://shop.example.com/a", { url: "https://shop.example.com/b", variables: { vip: true } }],
  },
  contradictions: ({ payload: asked }) =>
    isObject(asked) && holdsRounded(asked["data"]) ? [faultAt("/payload/data", faultOfRounded)] : [],
  check: ({ recipients = [] }, { allowed }) => {
    const faults = recipients.flatMap((recipient, index) => {
      const [text, at] =
        typeof recipient === "string"
          ? [recipient, `/recipients/${index}`]
          : [String(recipient["url"]), `/recipients/${index}/url`];
      const expected = whyNotToCall(text, allowed);
      // The text leaves the URL out: the faulty part may be the password in it.
      return expected === null ? [] : [faultAt(at, `cannot be called; expected ${expected}`)];
    });
    return faults.length === 0 ? passed(null) : failed(faults);
  },
  recipientKey: (text) => new URL(text).href,
  toContent: ({ payload: { event: type, data } }) => ({ payload: { event: type, data } }),
  createWork: ({ contentStore, webhooks }) => createDeliveryWork({ contentStore, ...webhooks }),
});
