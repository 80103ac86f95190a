import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { refuse } from "../server/answer.ts";
import { answerFile, revalidated, type StaticFile } from "../server/file-answer.ts";
import { type Route, route } from "../server/route.ts";

/** What these routes need from the page that shows the OpenAPI document. */
export interface ApiReferenceFiles {
  findFile(name: string): Promise<StaticFile | null>;
}

/** The page loads nothing from elsewhere, runs and styles only what is in files, and asks no service but this one. */
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

/** None where the page was not built. */
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
      answers: { 200: { is: "The file." }, 304: { is: "The client has the current version.", isEmpty: true } },
    },
    scope: "open",
    offers,
    handle: async (request) => {
      const isPage = path === "/docs";
      const file = await reference.findFile(isPage ? "page.html" : request.part("name"));
      if (file === null) return refuse("route-not-found", "No route has this path.");
      return answerFile(request, { file, policy: isPage ? pagePolicy : null, keep: revalidated });
    },
  });

type DocumentRoute = {
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  /** Called once, on the first request: the parts that it describes may be created after the route. */
  readonly document: () => object;
};

/** A description of the service. It is the same for every caller and shows no tenant's data, so it needs no key. */
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
        304: { is: "The client has the current version.", isEmpty: true },
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
