import { everybody } from "../support/scripted-smtp.ts";
import { costsNothing, type Fault, lasting, unwrittenOfBothWorkers, workers } from "./fault.ts";
import { usualMsPerMail } from "./stage.ts";

/** A receiver that has asked for patience gets more mails bit by bit, and slower after a second refusal in the next cell. */
const untilFreeMs = 180_000;

/** A mail server that is there and behaves badly. */
export const mailServerFaults: readonly Fault[] = [
  {
    name: "mail server refuses connections, 8 s",
    strike: async ({ links }) => {
      // The server itself stays up, so what is in flight is broken off by the door and nothing else.
      await Promise.all(workers.map((actor) => links[actor].smtp.cut()));
      await lasting(8000);
      await Promise.all(workers.map((actor) => links[actor].smtp.restore()));
      return unwrittenOfBothWorkers;
    },
  },
  {
    name: "mail server frozen, 5 s",
    strike: async ({ links }) => {
      for (const actor of workers) links[actor].smtp.stall();
      await lasting(5000);
      await Promise.all(workers.map((actor) => links[actor].smtp.restore()));
      return unwrittenOfBothWorkers;
    },
  },
  {
    name: "mail server greets with 421, 5 s",
    strike: async ({ mailServer }) => {
      mailServer.greetWith({ code: 421, text: "4.3.2 come back later" });
      mailServer.disconnect();
      await lasting(5000);
      mailServer.greetWith(null);
      return unwrittenOfBothWorkers;
    },
  },
  {
    name: "mail server defers every recipient, 5 s",
    endWithinMs: untilFreeMs,
    strike: async ({ mailServer }) => {
      mailServer.answerRecipient(everybody, { code: 451, text: "4.7.1 try again later" });
      await lasting(5000);
      mailServer.answerRecipient(everybody, null);
      return costsNothing;
    },
  },
  {
    name: "mail server defers after the dot, 5 s",
    endWithinMs: untilFreeMs,
    strike: async ({ mailServer }) => {
      mailServer.answerMessage(everybody, { code: 452, text: "4.3.1 out of storage" });
      await lasting(5000);
      mailServer.answerMessage(everybody, null);
      return costsNothing;
    },
  },
  {
    name: "mail server hangs up in DATA, 5 s",
    strike: async ({ mailServer }) => {
      mailServer.breakOff(true);
      await lasting(5000);
      mailServer.breakOff(false);
      return costsNothing;
    },
  },
  {
    name: "mail server hangs up after the dot, 2 s",
    strike: async ({ mailServer }) => {
      const before = mailServer.mails.length;
      mailServer.takeInSilence(everybody);
      await lasting(2000);
      mailServer.answerMessage(everybody, null);
      // Each of these was accepted without an answer to its sender, so the sender has to send it again.
      return { mayDouble: mailServer.mails.length - before };
    },
  },
  {
    name: "mail server hangs after the dot, 12 s",
    strike: async ({ mailServer }) => {
      mailServer.hold();
      await lasting(12_000);
      const mayDouble = mailServer.held.length;
      mailServer.release();
      return { mayDouble };
    },
  },
  {
    name: "mail server slow, 1 s a mail, 10 s",
    strike: async ({ mailServer }) => {
      mailServer.slowDown(1000);
      await lasting(10_000);
      mailServer.slowDown(usualMsPerMail);
      return costsNothing;
    },
  },
];
