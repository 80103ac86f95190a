import { eventually } from "../support/eventually.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { ask } from "./ask.ts";
import { type Cell, type Fault, lasting } from "./fault.ts";
import { fromNowOn } from "./log-reader.ts";
import type { Stage } from "./stage.ts";
import { repeatedForWorker } from "./staged-settings.ts";

const rounds = 4;
const route = "second";

/** Asks until the API has done it, or an earlier try has, whose answer was lost. */
const admin = (stage: Stage, method: "PUT" | "DELETE", body?: object): Promise<void> =>
  eventually(async () => {
    const asked = await ask(method, `${stage.apiUrls()[0]}/api/admin/routes/${route}`, body, { ...stage.headers });
    const isGone = method === "DELETE" && asked.kind === "answered" && asked.status === 404;
    if (!isGone && (asked.kind === "unanswered" || asked.status >= 300))
      throw new Error(`${method}: ${JSON.stringify(asked)}`);
  }, 30_000);

const urlOf = (port: number): string => `smtp://127.0.0.1:${port}`;

/** How many mails were sent by the second route, and by the default one. */
async function sentBy({ log }: Stage): Promise<{ readonly second: number; readonly usual: number }> {
  const sent = (await log.read()).filter(({ type }) => type === "RecipientSent");
  const second = sent.filter(({ data }) => data["route"] === route).length;
  return { second, usual: sent.length - second };
}

/** Both routes lead to the same mail server: it sees every copy of a mail. `round` has the port of a door to it. */
const routeFault = (
  name: string,
  mayDouble: number,
  round: (stage: Stage, cell: Cell, door: Awaited<ReturnType<typeof startTcpProxy>>) => Promise<void>,
): Fault => ({
  name,
  strike: async (wholeStage, cell) => {
    const stage = await fromNowOn(wholeStage);
    const door = await startTcpProxy({ host: "127.0.0.1", port: stage.mailServer.port });
    try {
      for (let times = 0; times < rounds; times += 1) await round(stage, cell, door);
      await admin(stage, "DELETE");
      const { second, usual } = await sentBy(stage);
      return {
        mayDouble,
        struck: `${second} mails by the second route, ${usual} by the default one`,
        alsoViolated: () => [
          ...(second > 0 ? [] : ["no mail went by the second route"]),
          ...(usual > 0 ? [] : ["no mail went by the default route"]),
        ],
      };
    } finally {
      await door.stop();
    }
  },
});

const killVictim = async ({ actors }: Stage, { victim }: Cell): Promise<void> => {
  await actors[victim].kill();
  await actors[victim].start();
};

/** A mail route that comes, goes and changes its account under load, while a worker dies. */
export const routeFaults: readonly Fault[] = [
  // A route that refuses connections, or is gone, has certainly taken no mail: only the kills may double any.
  routeFault(
    `mail route moved, refusing and removed, ${rounds} times, with SIGKILL of a worker each`,
    rounds * repeatedForWorker,
    async (stage, cell, door) => {
      await admin(stage, "PUT", { url: urlOf(door.port), order: 1 });
      await lasting(1500);
      await admin(stage, "PUT", { url: urlOf(1), order: 1 });
      await lasting(700);
      await killVictim(stage, cell);
      await lasting(700);
      await admin(stage, "PUT", { url: urlOf(door.port), order: 1, weight: 2 });
      await lasting(1500);
      await admin(stage, "DELETE");
    },
  ),
  routeFault(
    `mail route cut, 2 s, ${rounds} times, with SIGKILL of a worker each`,
    rounds * 3 * repeatedForWorker,
    async (stage, cell, door) => {
      await admin(stage, "PUT", { url: urlOf(door.port), order: 1 });
      await lasting(1500);
      await door.cut();
      await lasting(500);
      await killVictim(stage, cell);
      await lasting(1500);
      await door.restore();
      await lasting(1500);
    },
  ),
];
