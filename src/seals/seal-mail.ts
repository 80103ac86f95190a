import type { Mailer } from "../mail/mailer.ts";
import type { SealDestination } from "./publish-seals.ts";
import { digestOfSeal, toSealAnswer } from "./seal.ts";
import type { SealStore } from "./seal-store.ts";

export type SealMail = {
  readonly to: string;
  readonly from: string;
  readonly mailer: Mailer;
  readonly store: SealStore;
};

/** One mail for all seals that are new: whoever keeps these mails can hold them against the log for ever. */
export const createSealMail = ({ to, from, mailer, store }: SealMail): SealDestination => ({
  name: "mail",
  position: () => store.published("mail"),
  publish: async (seals) => {
    const [first, last] = [seals[0], seals.at(-1)];
    if (first === undefined || last === undefined) return;
    const outcome = await mailer.send({
      letter: {
        from,
        replyTo: null,
        subject: `Waybill sealed events ${first.from} to ${last.to}`,
        html: null,
        text: textOf(seals.map((seal) => JSON.stringify(toSealAnswer(seal)))),
        headers: {},
      },
      to,
      // The same again for the same seals, so that a second copy can be told as one.
      messageId: `<seal-${digestOfSeal(last).slice(0, 32)}@${from.slice(from.lastIndexOf("@") + 1).replace(/>.*$/, "")}>`,
    });
    // One that may have been taken is sent again: at least once.
    if (outcome.kind !== "sent") throw new Error(`SEAL_MAIL_TO: ${outcome.kind}, ${outcome.error.code}`);
    await store.publishedUpTo("mail", last.sequence);
  },
});

const textOf = (lines: readonly string[]): string =>
  [
    "Keep this mail: the lines below are seals of the event log. With them, anybody can find out later whether the",
    'log was changed since. Put the lines of all these mails into one file and run "waybill verify --seals FILE".',
    "",
    ...lines,
    "",
  ].join("\n");
