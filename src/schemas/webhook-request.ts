import { Type } from "typebox";
import { webhookTypes } from "../domain/webhooks/events.ts";
import { checkRequest, closed } from "./request-schema.ts";

const aType = `one of ${webhookTypes.join(", ")}`;

/** The body of POST /api/webhook-endpoints. Without types the endpoint receives the ends of jobs and mailings. */
export const webhookEndpointRequest = Type.Object(
  {
    url: Type.String({ description: "a URL with https" }),
    types: Type.Optional(
      Type.Array(Type.Enum([...webhookTypes], { description: aType }), {
        minItems: 1,
        maxItems: 20,
        description: `an array, each of it ${aType}; without it those of jobs and mailings`,
      }),
    ),
  },
  {
    ...closed,
    examples: [{ url: "https://shop.example.com/hooks/waybill", types: ["job.completed", "recipient.bounced"] }],
  },
);

export const readWebhookEndpointRequest = checkRequest(webhookEndpointRequest);
