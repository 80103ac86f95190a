import { eventually } from "../support/eventually.ts";
import type { Fault } from "./fault.ts";
import { drawn } from "./seeded.ts";
import { usualMsPerMail } from "./stage.ts";
import { repeatedForWorker } from "./staged-settings.ts";

const kills = 20;
const mailing = { jobs: 20, recipientsPerJob: 1000, everyMs: 0 };
const total = mailing.jobs * mailing.recipientsPerJob;

/** One mailing of 20,000, in which workers are killed twenty times, one after the other. */
export const twentyKills: Fault = {
  name: `${kills} kills of workers in a mailing of ${total}`,
  load: mailing,
  strike: async (stage, { seed, arrived }) => {
    stage.mailServer.slowDown(2);
    let killed = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const share = (kill + drawn(seed, `kill ${kill}`)) / (kills + 1);
      await eventually(() => {
        if (arrived() < share * total) throw new Error(`${arrived()} mails arrived`);
      }, 60_000);
      const victim = drawn(seed, `victim ${kill}`) < 0.5 ? stage.actors.worker : stage.actors.otherWorker;
      await victim.kill();
      killed += 1;
      await victim.start();
    }
    await eventually(() => {
      if (arrived() < total * 0.99) throw new Error(`${arrived()} mails arrived`);
    }, 120_000);
    stage.mailServer.slowDown(usualMsPerMail);
    return { mayDouble: killed * repeatedForWorker };
  },
};
