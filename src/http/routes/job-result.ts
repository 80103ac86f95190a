import { findResult, readResult } from "../../job-kinds/find-result.ts";
import type { FileOfJob, StoredResult } from "../../job-kinds/job-kind.ts";
import { type Answer, jobNotFound, refuse } from "../server/answer.ts";
import { toJobRef } from "../server/request-context.ts";
import { type ApiRequest, route } from "../server/route.ts";
import { ndjsonType, openStream, streaming } from "../streaming/event-stream.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/**
 * GET /jobs/:jobId/result: the file that a report job has made, from the log and the store alone. The route reads the file
 * as fast as the client takes it.
 */
export const jobResultRoute = ({ log, results, live }: RouteDependencies) =>
  route({
    method: "GET",
    path: "/jobs/:jobId/result",
    describes: {
      operation: "readJobResult",
      summary: "The file that a report job has made.",
      answers: { 200: { is: "The file, in the format in which the job made it.", headers: ["Content-Disposition"] } },
      needs: ["log", "streams"],
      problems: ["job-not-found", "result-not-found", "job-not-completed", "result-erased"],
    },
    // A file has one format, the one in which the job made it.
    offers: ["application/octet-stream", "text/csv", ndjsonType],
    handle: async (request) => {
      const job = toJobRef(request.context, request.part("jobId"));
      if (job === null) return jobNotFound();
      const found = await findResult(log, results, job);
      switch (found.outcome) {
        case "no-job":
          return jobNotFound();
        case "no-result":
          return refuse("result-not-found", "Jobs of this type make no file.");
        case "not-completed":
          return refuse(
            "job-not-completed",
            `The job is ${found.currentStatus}; the file is available once the job is completed.`,
            {
              members: { currentStatus: found.currentStatus },
            },
          );
        case "erased":
          return refuse("result-erased", "The file of this job has been erased.");
        case "found":
      }
      const { result, file } = found;
      const refusal = refuseScope(request, file);
      if (refusal !== null) return refusal;
      const stream = openStream(live, request);
      if (!stream.opened) return stream.answer;
      const bytes = readResult(results, { ...job, run: result.run }, result.chunks, stream.signal);
      const { headers, ...answer } = streaming(file.mediaType, bytes, stream.signal);
      return { ...answer, headers: { ...headers, ...headersOf(result, file) } };
    },
  });

/** A key that may not read the log itself may not read it through a report either. */
function refuseScope({ may }: Pick<ApiRequest, "may">, { scope }: FileOfJob): Answer | null {
  if (scope === null || may(scope)) return null;
  return refuse("scope-missing", `The API key lacks the scope ${scope}.`, { members: { scope } });
}

/** The digests follow RFC 9530 and RFC 9110: a client that has the whole file can check it. */
const headersOf = ({ bytes, sha256 }: StoredResult, { name }: FileOfJob): Readonly<Record<string, string>> => ({
  "Content-Length": String(bytes),
  "Content-Disposition": `attachment; filename="${name}"`,
  "Repr-Digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
  ETag: `"${sha256}"`,
});
