import { expect } from "chai";
import type { Announcements } from "../../../src/event-log/following/announcements.ts";
import { eventually } from "../../support/eventually.ts";

/** What all announcements promise: a hint to every listener of the moment. */
export function announcementsContract(open: () => Announcements): void {
  describe("an announcement of how far a read model has come", () => {
    /** Notes what is heard of a read model. */
    const listenTo = (projection: string): { heard: number[]; stop: () => void } => {
      const heard: number[] = [];
      const stop = open().listen(projection, (sequence) => heard.push(sequence));
      return { heard, stop };
    };

    it("reaches every listener, in order", async () => {
      const [one, other] = [listenTo("jobs"), listenTo("jobs")];
      for (const sequence of [7, 8, 1_000_000_000_000]) open().announce("jobs", sequence);
      for (const { heard, stop } of [one, other]) {
        await eventually(() => expect(heard).to.deep.equal([7, 8, 1_000_000_000_000]));
        stop();
      }
    });

    it("does not reach a listener for another read model", async () => {
      const [jobs, logs] = [listenTo("jobs"), listenTo("logs")];
      open().announce("jobs", 1);
      open().announce("logs", 2);
      await eventually(() => expect(logs.heard).to.deep.equal([2]));
      expect(jobs.heard).to.deep.equal([1]);
      jobs.stop();
      logs.stop();
    });

    it("does not reach a listener that stopped", async () => {
      const [stopped, other] = [listenTo("jobs"), listenTo("jobs")];
      stopped.stop();
      open().announce("jobs", 3);
      await eventually(() => expect(other.heard).to.deep.equal([3]));
      expect(stopped.heard).to.deep.equal([]);
      other.stop();
    });

    it("is lost without an error where there is no listener", async () => {
      open().announce("jobs", 4);
      const { heard, stop } = listenTo("jobs");
      open().announce("jobs", 5);
      await eventually(() => expect(heard).to.include(5));
      stop();
    });
  });
}
