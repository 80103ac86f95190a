/** By what mails are counted: the domain of their sender, the route that they went by, or who received them. */
export const mailGroupings = ["sender", "route", "receiver"] as const;
export type MailGrouping = (typeof mailGroupings)[number];

export const mailCounts = ["sent", "deferred", "failed", "bounced", "complained"] as const;
/** Answers of mail servers that took, put off and refused a mail, and what came back of it. */
export type MailCounts = Readonly<Record<(typeof mailCounts)[number], number>>;

export const noMails: MailCounts = { sent: 0, deferred: 0, failed: 0, bounced: 0, complained: 0 };

/** To four digits; null of nothing. What comes back in a while may be about more mails than were sent in it. */
export const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.min(1, Math.round((part / whole) * 10_000) / 10_000);
