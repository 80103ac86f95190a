import { Type } from "typebox";
import { suppressionReasons } from "../domain/recipients/events.ts";
import { address } from "./email-address.ts";
import { checkRequest, closed } from "./request-schema.ts";

/** The body of POST /api/suppressions. An import from another list can give the reason of each entry. */
export const suppressionRequest = Type.Object(
  {
    email: address,
    reason: Type.Optional(
      Type.Enum([...suppressionReasons], { description: `one of ${suppressionReasons.join(", ")}` }),
    ),
  },
  { ...closed, examples: [{ email: "zoe@example.com", reason: "manual" }] },
);

export const readSuppressionRequest = checkRequest(suppressionRequest);
