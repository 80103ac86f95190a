import { Type } from "typebox";
import type { MailingRecipientCursor, MailingRecipientOptions } from "../../../projections/jobs/recipients/queries.ts";
import { recipientFilters } from "../../domain/recipients/recipient-status.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { mailingRecipientPage } from "../answers/recipients.ts";
import { json, mailingNotFound } from "../server/answer.ts";
import { optionalText, type Parameter, type Parameters, someOf, whole } from "../server/query.ts";
import { toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import { askAboutParts } from "./ask-mailing.ts";
import { readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type RecipientQuery = Omit<MailingRecipientOptions, "statuses"> & {
  readonly status: MailingRecipientOptions["statuses"];
};

const cursorPattern = /^(\d{1,14})\.([\w-]{1,64})\.(\d{1,16})$/;

const cursor: Parameter<MailingRecipientCursor | null> = {
  absent: null,
  expected: "the nextCursor of the page before",
  schema: Type.String({ pattern: cursorPattern.source }),
  read: (text) => {
    const [, madeAtMs, jobId, recipient] = cursorPattern.exec(text) ?? [];
    if (madeAtMs === undefined || jobId === undefined) return null;
    return { madeAt: new Date(Number(madeAtMs)).toISOString(), jobId, recipient: Number(recipient) };
  },
};

const cursorText = ({ madeAt, jobId, recipient }: MailingRecipientCursor): string =>
  `${Date.parse(madeAt)}.${jobId}.${recipient}`;

const parameters: Parameters<RecipientQuery> = {
  status: someOf(recipientFilters),
  email: optionalText(254),
  pageSize: whole(100, 1, 1000),
  cursor,
};

/** GET /mailings/:mailingId/recipients: the recipients of all parts that are jobs, each with its present state. */
export const listMailingRecipientsRoute = (dependencies: RouteDependencies) =>
  route<RecipientQuery>({
    method: "GET",
    path: "/mailings/:mailingId/recipients",
    describes: {
      operation: "listMailingRecipients",
      summary:
        "Each recipient of the parts that are jobs, with its present state, part by part. `email` is a whole address, in any case.",
      headers: ["Min-Sequence"],
      answers: {
        200: {
          is: "A page of them, which can be shorter than `pageSize`; `nextCursor` is null at the end.",
          json: mailingRecipientPage,
          headers: ["Read-Sequence"],
        },
      },
      needs: ["log", "read-model"],
      problems: ["mailing-not-found", "read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, part, query: { status, ...others }, minSequence, inTime }) => {
      const mailing = toJobRef(context, part("mailingId"));
      if (mailing === null) return mailingNotFound();
      const options = { ...others, statuses: status };
      const asked = await askAboutParts(inTime(dependencies), mailing, minSequence, () =>
        dependencies.recipients.ofMailing(mailing, options),
      );
      if ("refusal" in asked) return asked.refusal;
      const { recipients, next, readSequence } = asked.found;
      const body: AnswerOf<typeof mailingRecipientPage> = {
        data: recipients,
        nextCursor: next === null ? null : cursorText(next),
      };
      return json(body, readSequenceHeader(readSequence));
    },
  });
