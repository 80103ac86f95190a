import { Type } from "typebox";
import { webhookTypes } from "../domain/webhooks/events.ts";
import { checkRequest, closed } from "./request-schema.ts";

const aType = `one of ${webhookTypes.join(", ")}`;

/** The body of POST /api/webhook-endpoints. Without types the endpoint receives every type. */
export const webhookEndpointRequest = Type.Object(
  {
    url: Type.String({ description: "a URL with https" }),
    types: Type.Optional(
      Type.Array(Type.Enum([...webhookTypes], { description: aType }), {
        minItems: 1,
        maxItems: 20,
        description: `an array, each of it ${aType}`,
      }),
    ),
  },
  closed,
);

export const readWebhookEndpointRequest = checkRequest(webhookEndpointRequest);
