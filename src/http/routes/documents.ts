import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { refuse } from "../server/answer.ts";
import { answerFile, revalidated, type StaticFile } from "../server/file-answer.ts";
import { type Route, route } from "../server/route.ts";

/** What these routes ask of the page that shows the OpenAPI document. */
export interface ApiReferenceFiles {
  findFile(name: string): Promise<StaticFile | null>;
}

/** Nothing is loaded from elsewhere, and nothing runs or styles that is not in a file. It asks this service and no other. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** None where it was not built. */
export const apiReferenceRoutes = (reference: ApiReferenceFiles | null): readonly Route[] =>
  reference === null
    ? []
    : [
        fileRoute(reference, "/docs", "readApiReference", ["text/html"]),
        fileRoute(reference, "/docs/:name", "readApiReferenceFile", ["text/javascript", "text/css"]),
      ];

const fileRoute = (reference: ApiReferenceFiles, path: string, operation: string, offers: readonly string[]): Route =>
  route({
    method: "GET",
    path,
    describes: {
      operation,
      summary: "A file of the page that shows this document.",
      answers: { 200: { is: "The file." }, 304: { is: "It is the one that the client has.", isEmpty: true } },
    },
    scope: "open",
    offers,
    handle: async (request) => {
      const isPage = path === "/docs";
      const file = await reference.findFile(isPage ? "page.html" : request.part("name"));
      if (file === null) return refuse("route-not-found", "There is nothing at this path.");
      return answerFile(request, { file, policy: isPage ? pagePolicy : null, keep: revalidated });
    },
  });

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
