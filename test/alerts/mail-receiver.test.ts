import { expect } from "chai";
import { createMailReceiver } from "../../src/alerts/mail-receiver.ts";
import type { AlertEvent } from "../../src/domain/alerts/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { Mail, Mailer } from "../../src/mail/mailer.ts";
import { alertRaised } from "../support/examples.ts";

async function mailFrom(from: string): Promise<Mail> {
  const mails: Mail[] = [];
  const mailer = {
    send: async (mail: Mail) => {
      mails.push(mail);
      return { kind: "sent", response: "250 OK" };
    },
  } as unknown as Mailer;
  const raised = { id: "alert-1", event: alertRaised() } as StoredEvent<AlertEvent>;
  await createMailReceiver(mailer, from, "operator@example.com").notify(raised, new AbortController().signal);
  return mails[0] as Mail;
}

describe("the mail of an alert", () => {
  for (const from of ["info@büro.example", "Büro <info@büro.example>", "info@xn--bro-hoa.example"]) {
    it(`from ${from} has a Message-ID in ASCII`, async () => {
      expect((await mailFrom(from)).messageId).to.match(/^<[0-9a-f]{32}@xn--bro-hoa\.example>$/);
    });
  }
});
