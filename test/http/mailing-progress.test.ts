import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { jobStarted, now, recipientSent } from "../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";

/** The log as a read model that is behind has read it. */
const upTo = (log: EventLog, sequence: number): EventLog => ({
  ...log,
  follow: async function* (options) {
    for await (const batch of log.follow({ ...options, maxEvents: 1 })) {
      if ((batch[0]?.sequence ?? 0) <= sequence) yield batch;
    }
  },
});

describe("The progress of a mailing, while the read model is behind what was decided", () => {
  let service: ApiWithReadSide;
  let mailing: JobRef;
  let part: JobRef;

  beforeEach(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    mailing = await draftMailing(readSide);
    await importInto(readSide, mailing, people(3));
    await decide(readSide, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const room = { isLeftForJobs: async () => true };
    const made = await createPart({ ...readSide, room }, mailing, await stateOf(readSide, mailing), 0, cause);
    part = made.ref;
    await readSide.happens(part, jobStarted(), recipientSent({ recipient: 0 }));
  });
  afterEach(() => service.close());

  const project = async (sequence: number): Promise<void> => {
    const { readSide } = service;
    const runner = readSide.startProjector(jobsProjector, { log: upTo(readSide.log, sequence) });
    expect(await readSide.positions.waitFor("jobs", sequence, 30_000)).to.equal(true);
    await runner.stop();
  };
  const sent = async (): Promise<number> => {
    const { status, body } = await service.api.ask("GET", `/api/mailings/${mailing.jobId}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.progress.sent;
  };
  const pause = async (): Promise<number> => {
    const { headers } = await service.api.ask("POST", `/api/mailings/${mailing.jobId}/pause`);
    return Number(headers.get("Event-Sequence"));
  };

  it("does not go back when the read model has come to the decision, and not yet to what came after it", async () => {
    await project((await service.readSide.log.state()).lastSequence);
    const paused = await pause();
    await service.readSide.happens(part, recipientSent({ recipient: 1 }));
    const before = await sent();
    await project(paused);
    expect(await sent()).to.equal(before);
  });

  it("does not go back either when the read model is there again, and behind what the log has shown", async () => {
    const paused = await pause();
    await service.readSide.happens(part, recipientSent({ recipient: 1 }));
    expect(await sent()).to.equal(2);
    await project(paused);
    expect(await sent()).to.equal(2);
  });
});
