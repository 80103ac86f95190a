import { type SuppressionReason, suppressionReasons } from "../../domain/recipients/events.ts";
import { toCsvRecord } from "../../schemas/csv.ts";
import { csvType, type LineFile, ndjsonType } from "../../schemas/line-file.ts";
import { maxEntries, readListFile, TooManyEntries } from "../../suppressions/list-file.ts";
import type { Suppression } from "../../suppressions/suppression-store.ts";
import { suppressionImport } from "../answers/recipients.ts";
import { type Answer, json, refuse, refuseFaults } from "../server/answer.ts";
import { oneOf, type Parameters } from "../server/query.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { openStream, streamingWhole } from "../streaming/event-stream.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "suppressions" | "live" | "now">;

type ImportQuery = { readonly reason: SuppressionReason };
type ExportQuery = { readonly format: "csv" | "ndjson" | null };

const importParameters: Parameters<ImportQuery> = { reason: oneOf(suppressionReasons, "manual") };
const exportParameters: Parameters<ExportQuery> = { format: oneOf<"csv" | "ndjson", null>(["csv", "ndjson"], null) };

/** Fifty thousand of the longest addresses that are met in practice. */
const maxBytes = 8 * 1024 * 1024;
const storedAtOnce = 64;
const exportPageSize = 500;
const columns = ["email", "reason", "createdAt"] as const;

const examples = {
  [csvType]: "email,reason\nada@example.com,unsubscribe\nbob@example.com,manual\n",
  [ndjsonType]: '{"email":"ada@example.com","reason":"unsubscribe"}\n{"email":"bob@example.com"}\n',
};

/** Imports and exports a whole list at once. */
export const suppressionFileRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<ImportQuery>({
    method: "POST",
    path: "/suppressions/import",
    describes: {
      operation: "importSuppressions",
      summary: `Put up to ${maxEntries} addresses on the list; if a line is wrong, none of them.`,
      answers: {
        200: {
          is: "All of them are on the list, each once; existing entries stay as they were.",
          json: suppressionImport,
        },
      },
      needs: ["log-writes"],
    },
    query: importParameters,
    streams: { types: [csvType, ndjsonType], examples, maxBytes },
    handle: (request) => importList(dependencies, request),
  }),
  route<ExportQuery>({
    method: "GET",
    path: "/suppressions/export",
    describes: {
      operation: "exportSuppressions",
      summary: "The whole list as a file that can be imported again, without those whose address was erased.",
      answers: {
        200: {
          is: "One line per address, in the order in which the addresses were added.",
          headers: ["Content-Disposition"],
        },
      },
      needs: ["log", "streams"],
    },
    query: exportParameters,
    offers: [csvType, ndjsonType],
    handle: (request) => exportList(dependencies, request),
  }),
];

/** A repeated import adds what is missing: a list that was stored in part is complete the second time. */
async function importList({ suppressions, now }: Dependencies, request: ApiRequest<ImportQuery>): Promise<Answer> {
  const { context, query, streamed } = request;
  if (streamed === null) throw new Error("This route takes a stream.");
  // The route accepts only these two types.
  const file = streamed as LineFile;
  const checked = await readListFile(file, { reason: query.reason, now: now() }).catch((failure: unknown) => {
    if (failure instanceof TooManyEntries) return null;
    throw failure;
  });
  if (checked === null)
    return refuse("body-too-large", `The list has more than ${maxEntries} lines; send it in parts.`);
  if (!checked.valid) return refuseFaults(checked.faults);
  let added = 0;
  for (let first = 0; first < checked.value.length; first += storedAtOnce) {
    const stored = await Promise.all(
      checked.value
        .slice(first, first + storedAtOnce)
        .map(({ email, reason, createdAt }) => suppressions.add(context.tenant, email, reason, createdAt)),
    );
    added += stored.filter(({ isNew }) => isNew).length;
  }
  const entries = checked.value.length;
  return json({ entries, added, existing: entries - added });
}

async function exportList({ suppressions, live }: Dependencies, request: ApiRequest<ExportQuery>): Promise<Answer> {
  const { context, query, accepted } = request;
  const format = query.format ?? (accepted === csvType ? "csv" : "ndjson");
  const pageAfter = (after: number) => suppressions.page(context.tenant, { after, limit: exportPageSize });
  // An error before the first line still becomes the status of the answer.
  const first = await pageAfter(0);
  const stream = openStream(live, request);
  if (!stream.opened) return stream.answer;
  const { signal } = stream;
  const lines = async function* (): AsyncGenerator<string> {
    if (format === "csv") yield toCsvRecord(columns);
    for (let page = first; ; page = await pageAfter(page.next ?? 0)) {
      signal.throwIfAborted();
      yield page.suppressions.map((one) => lineOf(format, one)).join("");
      if (page.next === null) return;
    }
  };
  const answer = streamingWhole(
    format === "csv" ? `${csvType}; charset=utf-8; header=present` : ndjsonType,
    lines(),
    signal,
  );
  return {
    ...answer,
    headers: { ...answer.headers, "Content-Disposition": `attachment; filename="suppressions.${format}"` },
  };
}

function lineOf(format: "csv" | "ndjson", { email, reason, createdAt }: Suppression): string {
  if (email === null) return "";
  return format === "csv"
    ? toCsvRecord([email, reason, createdAt])
    : `${JSON.stringify({ email, reason, createdAt })}\n`;
}
