import { setTimeout as pause } from "node:timers/promises";
import { createRateLimit } from "../../access/rate-limit.ts";
import type { ContentStore } from "../../content/content-store.ts";
import { decodeContent } from "../../content/encode-content.ts";
import type { Cause, JobRef } from "../../event-log/event-log.ts";
import { Archived, LogFull } from "../../event-log/log-failures.ts";
import { recordUnsubscribed, unsubscribedIdOf } from "../../feedback/record-feedback.ts";
import { type Unsubscribing, unsubscribePath } from "../../suppressions/unsubscribe-links.ts";
import { type Answer, refuseForNow } from "../server/answer.ts";
import { toCause } from "../server/request-context.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "suppressions" | "contentStore" | "log" | "now">;

/** More than any person or mail provider needs. Links are signed, so a caller cannot make up other links. */
const timesAMinute = 10;

/** Answers whatever a mail provider accepts, and ignores the parameters that links gather on the way (`?utm_source=…`). */
const unsubscribeRoute = {
  path: `${unsubscribePath}/:token`,
  scope: "open",
  offers: ["text/html", "text/plain", "application/json"],
  ignoresQuery: true,
} as const;

/**
 * The target of the link in a mail (RFC 8058). Scanners follow links, so a GET changes nothing. A POST unsubscribes,
 * whatever its body: mail providers send `List-Unsubscribe=One-Click` as a form of either kind, people press the button,
 * and neither happens by mistake. The route needs no key, as the link is signed; it sets no cookie and does not redirect.
 */
export function unsubscribeRoutes(dependencies: Dependencies): readonly Route[] {
  const uses = createRateLimit(timesAMinute);
  return [
    route({
      ...unsubscribeRoute,
      method: "GET",
      describes: {
        operation: "askToUnsubscribe",
        summary: "The page that the link of a mail leads to; a GET changes nothing.",
        answers: { 200: { is: "A page with a button." } },
        needs: ["log"],
      },
      handle: async ({ part, inTime }) => {
        const links = await inTime(dependencies).suppressions.links();
        return links.read(part("token")) === null ? unsubscribeInvalid() : unsubscribeQuestion();
      },
    }),
    route({
      ...unsubscribeRoute,
      method: "POST",
      describes: {
        operation: "unsubscribe",
        summary: "Never mail the recipient of the mail that the link was in again (RFC 8058).",
        answers: { 200: { is: "A page that confirms it." } },
        needs: ["log-writes"],
        problems: ["rate-limited"],
      },
      handle: async ({ context, part, inTime }) => {
        const ports = inTime(dependencies);
        const { suppressions } = ports;
        const link = (await suppressions.links()).read(part("token"));
        if (link === null) return unsubscribeInvalid();
        if (uses.take(`${link.job.tenant}.${link.digest}`).retryAfterSeconds !== null) {
          return refuseForNow("rate-limited", "This link was used too often within a minute. Try again later.", 60);
        }
        await unsubscribe(ports, link, toCause(context));
        return unsubscribeDone();
      },
    }),
  ];
}

/** The address does not wait longer for the event: all calls of a request together have a second and a half. */
const eventMs = 500;

/** The log takes no event for long: no reason to tell the person that it did not work. */
const isForLong = (failure: unknown): boolean => failure instanceof LogFull || failure instanceof Archived;

/**
 * The event comes first: its listener suppresses the address if this process dies in between. Where the log takes no event,
 * or takes long, the address is suppressed all the same. Throws Unavailable after that, so that the same request again records
 * it.
 */
async function unsubscribe(
  { suppressions, contentStore, log, now }: Dependencies,
  link: Unsubscribing,
  cause: Cause,
): Promise<void> {
  const [at, mail] = [now(), { ...link.job, recipient: link.recipient }];
  const recording = recordUnsubscribed(log, mail, cause, at).catch((failure: unknown) => ({ failure }));
  const soon = await Promise.race([recording, pause(eventMs, null, { ref: false })]);
  const event = soon === "recorded" || soon === "known" ? unsubscribedIdOf(mail) : undefined;
  await suppressions.unsubscribe(link, (job, recipient) => readAddress(contentStore, job, recipient), at, event);
  const recorded = await recording;
  if (typeof recorded === "object" && !isForLong(recorded.failure)) throw recorded.failure;
}

/** Null once the address was erased. */
async function readAddress(contentStore: ContentStore, job: JobRef, recipient: number): Promise<string | null> {
  const stored = await contentStore.get(job);
  return stored === null ? null : (decodeContent(stored).recipients[recipient]?.email ?? null);
}

/** The page loads nothing and runs nothing; its one form posts back to this service. */
const headers = {
  "Content-Security-Policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Robots-Tag": "noindex, nofollow",
};

const question = `<h1>Unsubscribe</h1>
<p>Do you want to get no more of these e-mails?</p>
<form method="post">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<button type="submit">Unsubscribe</button>
</form>`;

const done = `<h1>You are unsubscribed</h1>
<p>You will get no more of these e-mails. What is on its way already may still arrive.</p>`;

const invalid = `<h1>This link is not valid</h1>
<p>Part of it may be missing: copy the whole link from the e-mail.</p>`;

const page = (status: number, content: string): Answer => ({
  status,
  type: "text/html; charset=utf-8",
  headers,
  body: Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Unsubscribe</title>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`),
});

export const unsubscribeQuestion = (): Answer => page(200, question);
export const unsubscribeDone = (): Answer => page(200, done);
export const unsubscribeInvalid = (): Answer => page(404, invalid);
