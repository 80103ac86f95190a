import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { answerFile, revalidated, type StaticFile } from "../server/file-answer.ts";
import { type Route, route } from "../server/route.ts";

type DocumentRoute = {
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  /** Called once, when it is first asked for: what it describes may be made after the route. */
  readonly document: () => object;
};

/** A description of the service. It is the same for everybody and tells nothing of any tenant: no key is asked for. */
export function documentRoute({ path, operation, summary, document }: DocumentRoute): Route {
  let file: StaticFile | null = null;
  return route({
    method: "GET",
    path,
    describes: {
      operation,
      summary,
      answers: {
        200: { is: "The document.", json: { type: "object", additionalProperties: true } },
        304: { is: "It is the one that the client has.", isEmpty: true },
      },
    },
    scope: "open",
    handle: async (request) => {
      file ??= toFile(document());
      return answerFile(request, { file, policy: null, keep: revalidated });
    },
  });
}

function toFile(document: object): StaticFile {
  const bytes = Buffer.from(JSON.stringify(document));
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { type: "application/json", bytes, gzipped: gzipSync(bytes), digest };
}
