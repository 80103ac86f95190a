import { caughtMails } from "../answers/service.ts";
import { json, refuse } from "../server/answer.ts";
import { type Route, route } from "../server/route.ts";

type CaughtMail = {
  readonly id: string;
  readonly receivedAt: Date;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly raw: Buffer;
};

/** What these routes need from the mailbox in which the standalone service catches its mail. */
export interface Mailbox {
  list(): readonly CaughtMail[];
  find(id: string): CaughtMail | null;
}

/** None where mail really goes out. The caught mail belongs to all tenants, so only an operator may see it. */
export const mailboxRoutes = (mailbox: Mailbox | null): readonly Route[] =>
  mailbox === null
    ? []
    : [
        route({
          method: "GET",
          path: "/mailbox",
          describes: {
            operation: "listCaughtMails",
            summary: "The mails that the service has caught instead of sending them.",
            answers: { 200: { is: "All mails that are kept.", json: caughtMails } },
          },
          scope: "admin",
          handle: async () =>
            json(
              mailbox.list().map(({ id, receivedAt, from, to, subject }) => ({ id, receivedAt, from, to, subject })),
            ),
        }),
        route({
          method: "GET",
          path: "/mailbox/:id",
          describes: {
            operation: "readCaughtMail",
            summary: "One caught mail as it was received.",
            answers: { 200: { is: "The mail." } },
            problems: ["mail-not-found"],
          },
          scope: "admin",
          offers: ["message/rfc822"],
          handle: async ({ part }) => {
            const mail = mailbox.find(part("id"));
            if (mail === null) return refuse("mail-not-found", "There is no mail with this id.");
            return { status: 200, type: "message/rfc822", headers: {}, body: mail.raw };
          },
        }),
      ];
