import { refuse } from "../server/answer.ts";
import { answerFile, type Found, forEver, revalidated, type StaticFile } from "../server/file-answer.ts";
import { type Route, route } from "../server/route.ts";

/** What these routes need from the dashboard. */
export interface DashboardFiles {
  readonly page: StaticFile;
  readonly mailFrame: StaticFile;
  findAsset(name: string): { readonly file: StaticFile; readonly isNamedByDigest: boolean } | null;
}

/** The page loads nothing from elsewhere, runs and styles only what is in the two files, and cannot be framed. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/**
 * A mail is HTML of foreign origin: nothing in it runs, and the browser fetches nothing for it, so looking at a mail leaves
 * no trace with its sender. The page writes the mail into the frame, which requires the page's own origin; without scripts
 * the mail cannot use that.
 */
const mailPolicy = [
  "default-src 'none'",
  "img-src data:",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "sandbox allow-same-origin",
].join("; ");

/** The dashboard's files need no key: the API calls that they make do. None where the dashboard was not built. */
export const dashboardRoutes = (dashboard: DashboardFiles | null): readonly Route[] =>
  dashboard === null
    ? []
    : [
        fileRoute("/", "readDashboard", ["text/html"], () => ({
          file: dashboard.page,
          policy: pagePolicy,
          keep: revalidated,
        })),
        fileRoute("/mail-frame", "readMailFrame", ["text/html"], () => ({
          file: dashboard.mailFrame,
          policy: mailPolicy,
          keep: revalidated,
        })),
        fileRoute("/assets/:name", "readDashboardAsset", ["text/javascript", "text/css"], (name) => {
          const asset = dashboard.findAsset(name);
          return asset === null
            ? null
            : { file: asset.file, policy: null, keep: asset.isNamedByDigest ? forEver : "no-store" };
        }),
      ];

const fileRoute = (path: string, operation: string, offers: readonly string[], find: (name: string) => Found | null) =>
  route({
    method: "GET",
    path,
    describes: {
      operation,
      summary: "A file of the dashboard.",
      answers: { 200: { is: "The file." }, 304: { is: "The client has the current version.", isEmpty: true } },
    },
    scope: "open",
    offers,
    handle: async (request) => {
      const found = find(request.part("name"));
      return found === null ? refuse("route-not-found", "No route has this path.") : answerFile(request, found);
    },
  });
