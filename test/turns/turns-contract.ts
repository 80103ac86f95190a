import { expect } from "chai";
import type { Turns } from "../../src/turns/turns.ts";
import type { TurnDelivery, WorkQueue } from "../../src/turns/work-queue.ts";
import { eventually } from "../support/eventually.ts";
import { caused, jobCreated, queuedTurn } from "../support/examples.ts";

export type OpenedTurns = {
  readonly turns: Turns;
  /** As each worker opens one of its own; closed after the test. */
  readonly openQueue: (type?: string) => WorkQueue;
};

/** What turns promise to the scheduler, and the queue of them to workers. */
export function turnsContract(opened: () => OpenedTurns): void {
  const put = (jobId: string, some: Parameters<typeof queuedTurn>[0] = {}) =>
    opened().turns.put(queuedTurn({ jobId, ...some }), "lane");
  const idsOf = (deliveries: readonly TurnDelivery[]): string[] => deliveries.map(({ turn }) => turn.jobId);
  const takes = (queue: WorkQueue, ...jobIds: readonly string[]): Promise<readonly TurnDelivery[]> => {
    const taken: TurnDelivery[] = [];
    return eventually(async () => {
      taken.push(...(await queue.take(jobIds.length - taken.length, taken.length)));
      expect(idsOf(taken)).to.deep.equal(jobIds);
      return taken;
    }, 20_000);
  };

  it("are handed out with all that the scheduler said of them", async () => {
    const decision = { ...caused("created", jobCreated()), tenant: "default", jobId: "job-2", sequence: 18, index: 0 };
    const turn = queuedTurn({ run: 2, attempt: 3, opening: 1, after: 17 });
    const newest = queuedTurn({ jobId: "job-2", after: 18, created: decision });
    await opened().turns.put(turn, "overflow");
    await opened().turns.put(newest, "overflow");
    const [delivery, other] = await takes(opened().openQueue(), "job-1", "job-2");
    expect(delivery?.turn).to.deep.equal(turn);
    expect(other?.turn).to.deep.equal(newest);
    expect(delivery?.times).to.equal(1);
    expect(Date.now() - (delivery?.putAtMs ?? 0)).to.be.within(-1000, 60_000);
  });

  it("are there once, however often they are put, while they wait and while a worker holds them", async () => {
    await put("job-1");
    await put("job-1");
    const queue = opened().openQueue();
    expect(await queue.waiting()).to.equal(1);
    const [held] = await takes(queue, "job-1");
    await put("job-1");
    expect(await queue.waiting()).to.equal(0);
    held?.acknowledge();
    await eventually(async () =>
      expect((await opened().turns.jobs())({ tenant: "default", jobId: "job-1" })).to.equal(false),
    );
    await put("job-1");
    await takes(queue, "job-1");
  });

  it("are others after another decision", async () => {
    await put("job-1");
    const queue = opened().openQueue();
    await takes(queue, "job-1");
    await put("job-1", { after: 5, opening: 1 });
    const [second] = await takes(queue, "job-1");
    expect(second?.turn).to.include({ after: 5, opening: 1 });
  });

  it("are known by their jobs, until they are acknowledged", async () => {
    await put("job-1");
    await opened().turns.put(queuedTurn({ tenant: "acme", jobId: "job-2", type: "webhook.deliver" }), "overflow");
    const isThere = await opened().turns.jobs();
    expect(isThere({ tenant: "default", jobId: "job-1" })).to.equal(true);
    expect(isThere({ tenant: "acme", jobId: "job-2" })).to.equal(true);
    expect(isThere({ tenant: "acme", jobId: "job-1" })).to.equal(false);
  });

  it("go to the workers of their kind only", async () => {
    await put("tea", { type: "tea.make" });
    await put("coffee", { type: "coffee.make" });
    await takes(opened().openQueue("coffee.make"), "coffee");
    await takes(opened().openQueue("tea.make"), "tea");
  });

  it("are handed out by priority, and those in the overflow behind those in the lane", async () => {
    await put("low", { priority: "low" });
    await opened().turns.put(queuedTurn({ jobId: "behind" }), "overflow");
    await put("normal");
    await put("high", { priority: "high" });
    await takes(opened().openQueue(), "high", "normal", "behind", "low");
  });

  it("wake a worker that waits for one", async () => {
    const queue = opened().openQueue();
    const taken: string[] = [];
    const look = async (): Promise<void> => void taken.push(...idsOf(await queue.take(1)));
    queue.onArrival(() => void look());
    await look();
    await put("job-1");
    await eventually(() => expect(taken).to.deep.equal(["job-1"]));
  });

  it("go to another worker where the one that waited for them has found other work", async () => {
    const [busy, other] = [opened().openQueue(), opened().openQueue()];
    expect(await busy.take(1)).to.deep.equal([]);
    await put("job-1");
    await takes(other, "job-1");
  });

  it("come back when they are given back", async () => {
    await put("job-1");
    const queue = opened().openQueue();
    const [first] = await takes(queue, "job-1");
    first?.giveBack(10);
    const [second] = await takes(queue, "job-1");
    // On a busy machine it may have been on its way to a request that was over by then.
    expect(second?.times).to.be.at.least(2);
  });
}
