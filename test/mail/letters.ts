import type { Letter, Mail } from "../../src/mail/mailer.ts";

export const exampleLetter = (more: Partial<Letter> = {}): Letter => ({
  from: "Waybill <waybill@example.org>",
  replyTo: null,
  subject: "Hello",
  html: null,
  text: "Hello",
  headers: {},
  ...more,
});

export const mailTo = (to: string, more: Partial<Letter> = {}): Mail => ({
  letter: exampleLetter(more),
  to,
  messageId: "<one@example.org>",
});
