import { Type } from "typebox";
import type { LedgerCursor } from "../../../projections/jobs/recipients/queries.ts";
import { exportAddress } from "../../erasure/export-address.ts";
import { isRecipientAddress, longestAddress } from "../../schemas/erase-request.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { ledgerPage } from "../answers/recipients.ts";
import { type Answer, json } from "../server/answer.ts";
import { type Parameter, type Parameters, whole } from "../server/query.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { ndjsonType, openStream, streamingWhole } from "../streaming/event-stream.ts";
import { askIncluding, askReadModel, readSequenceHeader, refuseBehind } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<
  RouteDependencies,
  "log" | "live" | "contentStore" | "recipients" | "exportedRecipients" | "readPosition" | "ownWrites" | "now"
>;

type AddressQuery = { readonly email: string };
type LedgerQuery = AddressQuery & { readonly cursor: LedgerCursor | null; readonly limit: number };

/** A mistyped address has no history, and an empty answer must not be taken for the truth about a person. */
const email: Parameter<string> = {
  absent: "",
  isRequired: true,
  expected: "an e-mail address such as ada@example.com (with + as %2B), or the URL that a job called",
  schema: Type.String({ minLength: 1, maxLength: longestAddress }),
  read: (text) => (isRecipientAddress(text) ? text : null),
};

const cursor: Parameter<LedgerCursor | null> = {
  absent: null,
  expected: "the nextCursor of the page before",
  schema: Type.String({ pattern: "^\\d{1,16}\\.\\d{1,9}$" }),
  read: (text) => {
    const [, job, recipient] = /^(\d{1,16})\.(\d{1,9})$/.exec(text) ?? [];
    return job === undefined ? null : { job: Number(job), recipient: Number(recipient) };
  },
};

const parameters: Parameters<LedgerQuery> = { email, cursor, limit: whole(20, 1, 100) };

const exportPageSize = 100;

/** Everything that was ever sent, or failed to be sent, to one address: as pages, and as a file for that person. */
export const recipientLedgerRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<LedgerQuery>({
    method: "GET",
    path: "/recipients",
    describes: {
      operation: "readRecipientLedger",
      summary: "Everything that was ever sent, or failed to be sent, to one address.",
      headers: ["Min-Sequence"],
      answers: {
        200: {
          is: "The newest first. A page may be short, or empty, and have a cursor.",
          json: ledgerPage,
          headers: ["Read-Sequence"],
        },
      },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: (request) => list(dependencies, request),
  }),
  route<AddressQuery>({
    method: "GET",
    path: "/recipients/export",
    describes: {
      operation: "exportRecipientLedger",
      summary: "The same with the messages themselves, as one file for the person it concerns.",
      answers: {
        200: { is: "Lines of JSON; the last line marks the file as complete.", headers: ["Content-Disposition"] },
      },
      needs: ["log", "read-model", "streams"],
      problems: ["read-model-behind"],
    },
    query: { email },
    offers: [ndjsonType],
    // Bodies of mails hold links that log their readers in elsewhere: this takes more than the right to look at jobs.
    scope: "admin",
    handle: (request) => answerExport(dependencies, request),
  }),
];

async function list(
  { recipients, readPosition, ownWrites }: Dependencies,
  { context: { tenant }, query, minSequence }: ApiRequest<LedgerQuery>,
): Promise<Answer> {
  const wanted = Math.max(minSequence, ownWrites.ofTenant(tenant));
  const { entries, next, readSequence } = await askIncluding(readPosition, "jobs", wanted, () =>
    recipients.ofAddress(tenant, query.email, query),
  );
  if (readSequence < minSequence) return refuseBehind(minSequence);
  const nextCursor = next === null ? null : `${next.job}.${next.recipient}`;
  const body: AnswerOf<typeof ledgerPage> = { data: entries, nextCursor };
  return json(body, readSequenceHeader(readSequence));
}

/** The file holds everything up to the moment of the request, or the request fails. */
async function answerExport(dependencies: Dependencies, request: ApiRequest<AddressQuery>): Promise<Answer> {
  const { log, live, contentStore, exportedRecipients, readPosition, now } = dependencies;
  const { tenant } = request.context;
  const { email: address } = request.query;
  const page = (after: LedgerCursor | null) =>
    askReadModel(() => exportedRecipients.ofAddress(tenant, address, { cursor: after, limit: exportPageSize }));
  const { lastSequence } = await log.state();
  const { readSequence } = await askIncluding(readPosition, "jobs", lastSequence, () => page(null));
  if (readSequence < lastSequence) return refuseBehind(lastSequence);
  const stream = openStream(live, request);
  if (!stream.opened) return stream.answer;
  const ledger = { tenant, address, exportedAt: now(), contentStore, page };
  const answer = streamingWhole(ndjsonType, exportAddress(ledger, stream.signal), stream.signal);
  // The name of the file holds no address: file names end up in many places.
  return {
    ...answer,
    headers: { ...answer.headers, "Content-Disposition": 'attachment; filename="recipient.ndjson"' },
  };
}
