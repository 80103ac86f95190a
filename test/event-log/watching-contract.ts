import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { EventLog, JobRef } from "../../src/event-log/event-log.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCancelled, jobCreated, jobPaused, recipientSent } from "../support/examples.ts";
import { storeFacts } from "../support/store-facts.ts";

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });

export function watchingContract(open: () => EventLog): void {
  stateContract(open);
  hintContract(open);
}

function stateContract(open: () => EventLog): void {
  describe("the state of a log", () => {
    it("tells how far it has come", async () => {
      const log = open();
      const { sequences } = await storeFacts(log, 2);
      expect((await log.state()).lastSequence).to.equal(sequences[1]);
    });

    it("tells always the same of when it was created", async () => {
      const log = open();
      const before = await log.state();
      await storeFacts(log, 1);
      const after = await log.state();
      expect(after.createdAt).to.equal(before.createdAt);
      expect(Date.parse(after.createdAt)).to.be.at.most(Date.now());
    });
  });
}

function hintContract(open: () => EventLog): void {
  describe("listening for decisions about a job", () => {
    it("hears of each of them, and of nothing else", async () => {
      const [log, job, other] = [open(), newJob(), newJob()];
      let heard = 0;
      let heardOfOther = 0;
      const stop = log.onDecision(job, () => {
        heard += 1;
      });
      const stopOther = log.onDecision(other, () => {
        heardOfOther += 1;
      });
      await log.record(job, [caused(uuid(), recipientSent())]);
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      await log.append(job, [caused(uuid(), jobPaused())], created);
      await eventually(() => expect(heard).to.equal(2));
      expect(heardOfOther).to.equal(0);
      stop();
      stopOther();
    });

    it("hears nothing any more once it was stopped", async () => {
      const [log, job] = [open(), newJob()];
      const heardBy: string[] = [];
      const stop = log.onDecision(job, () => heardBy.push("the stopped listener"));
      const stopOther = log.onDecision(job, () => heardBy.push("the other listener"));
      const created = await log.append(job, [caused(uuid(), jobCreated())], 0);
      await eventually(() => expect(heardBy).to.have.members(["the stopped listener", "the other listener"]));
      stop();
      await log.append(job, [caused(uuid(), jobCancelled())], created);
      await eventually(() => expect(heardBy.filter((name) => name === "the other listener")).to.have.length(2));
      expect(heardBy.filter((name) => name === "the stopped listener")).to.have.length(1);
      stopOther();
    });
  });
}
