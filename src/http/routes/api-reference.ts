import { answerFile, revalidated, type StaticFile } from "../server/file-answer.ts";
import { refuse } from "../server/problem.ts";
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
