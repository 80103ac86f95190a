import type { HelpAnswer, HelpExchange, HelpRequest, HelpWanted } from "../../src/workers/help.ts";
import { say } from "./wire.ts";
import type { SimulatedProcess, World } from "./world.ts";

type Answering = { readonly process: SimulatedProcess; readonly answer: (request: HelpRequest) => HelpAnswer };

const timeoutMs = 1000;

/** How workers let each other help. Each message may get lost or come late, also to a worker that was frozen meanwhile. */
export function createHelping(world: World) {
  const answering = new Map<string, Answering>();
  const hearing = new Set<{ readonly process: SimulatedProcess; readonly heard: (wanted: HelpWanted) => void }>();
  const isLost = (): boolean => world.isLogAway() || world.strikes(world.faults.lostMessages);

  return {
    exchangeOf: (process: SimulatedProcess): HelpExchange => ({
      announce: (_, wanted) => {
        for (const one of hearing) say(world, process, () => world.tell(one.process, 0, () => one.heard(wanted)));
      },
      onAnnounced: (_, heard) => {
        const one = { process, heard };
        hearing.add(one);
        return () => hearing.delete(one);
      },
      answerFor: (worker, answer) => {
        answering.set(worker, { process, answer });
        return () => answering.delete(worker);
      },
      request: (worker, request) =>
        new Promise((resolve) => {
          const respond = (asked: Answering): void => {
            const answer = asked.answer(request);
            const what = request.kind === "more" ? `recipients ${answer.recipients.join(",") || "none"}` : "yes";
            world.note(`    ${worker} answers ${request.help} (${request.kind}): ${what}`);
            world.leave(asked.process, () => {
              if (!isLost()) world.tell(process, world.latency(), () => resolve(answer));
            });
          };
          world.tell(process, timeoutMs, () => resolve(null));
          world.leave(process, () => {
            const asked = answering.get(worker);
            if (asked !== undefined && !isLost()) world.tell(asked.process, world.latency(), () => respond(asked));
          });
        }),
    }),
  };
}
