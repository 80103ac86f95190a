import { Type } from "typebox";
import { suppressionReasons } from "../domain/recipients/events.ts";
import { address } from "./email-address.ts";
import { checkRequest, closed } from "./request-schema.ts";

/** What POST /api/suppressions takes. Who brings a list from elsewhere can say why an address was on it. */
export const suppressionRequest = Type.Object(
  {
    email: address,
    reason: Type.Optional(
      Type.Enum([...suppressionReasons], { description: `one of ${suppressionReasons.join(", ")}` }),
    ),
  },
  closed,
);

export const readSuppressionRequest = checkRequest(suppressionRequest);
