import { expect } from "chai";
import { foldLog } from "./fold-of-log.ts";
import { changesOf, duplicatesAmong, type Remains, violationsIn } from "./invariants.ts";
import type { RawEvent } from "./log-reader.ts";

const [ada, bob, nobody] = ["ada@example.com", "bob@example.com", "nobody@example.com"];
const jobId = "job-1";
const idOf = (recipient: number): string => `<${recipient}@example.org>`;

type Told = readonly [type: string, data?: object];

const told = (events: readonly Told[]): RawEvent[] =>
  events.map(([type, data = {}], index) => {
    const turn = { run: 1, attempt: 1 };
    const time = `2026-11-21T09:30:00.00${index}Z`;
    const place = { sequence: index + 1, index: 0 };
    return { ...place, sha256: `${type}${index}`, jobId, type, time, data: { ...turn, ...data } };
  });

const sent = (recipient: number): Told => ["RecipientSent", { recipient, messageId: idOf(recipient) }];
const created: Told = ["JobCreated", { total: 3, scheduledAt: null }];
const refused: Told = ["RecipientFailed", { recipient: 2, error: { code: "rejected" } }];
const counts = { total: 3, sent: 2, failed: 1, pending: 0, deferred: 0, unknown: 0, suppressed: 0 };
const completed: Told = ["JobCompleted", { counts }];
const asItShouldBe: readonly Told[] = [created, ["JobStarted"], sent(0), sent(1), refused, completed];

const mail = (to: string, recipient: number): Remains["mails"][number] => ({
  from: "shop@example.com",
  to: [to],
  raw: Buffer.from(""),
  messageId: idOf(recipient),
  receivedAt: new Date(),
});
const bothMails = [mail(ada, 0), mail(bob, 1)];

function violations(events: readonly Told[], mails: Remains["mails"] = bothMails): string[] {
  const folded = foldLog(told(events)).get(jobId);
  if (folded === undefined) throw new Error("There is no job");
  return violationsIn({
    jobs: [{ jobId, recipients: [ada, bob, nobody], refused: new Set([nobody]), folded }],
    mails,
  });
}

describe("the checker of what a fault left behind", () => {
  it("finds nothing where all is well", () => {
    expect(violations(asItShouldBe)).to.deep.equal([]);
  });

  it("finds a mail that never arrived, and one that went to a refused recipient", () => {
    expect(violations(asItShouldBe, [mail(ada, 0)])).to.include("bob@example.com was never mailed (sent)");
    const [found] = violations(asItShouldBe, [...bothMails, mail(nobody, 2)]);
    expect(found).to.equal("nobody@example.com was refused for good, and mailed");
  });

  it("finds a recipient without an outcome", () => {
    const found = violations([created, ["JobStarted"], sent(0), refused, completed]);
    expect(found.join()).to.include("ended with recipients without an outcome");
    expect(found.join()).to.include("bob@example.com is recorded as undefined");
  });

  it("lets the first final outcome stand, as a late one of a worker that lost the job is without effect", () => {
    const late: Told = ["RecipientFailed", { recipient: 0, error: { code: "rejected" } }];
    expect(violations([created, ["JobStarted"], sent(0), sent(1), late, refused, completed])).to.deep.equal([]);
  });

  it("finds counters that do not say what happened", () => {
    const miscounted: Told = ["JobCompleted", { counts: { ...counts, sent: 3, failed: 0 } }];
    expect(violations([...asItShouldBe.slice(0, -1), miscounted]).join()).to.include("where the fold has");
  });

  it("finds jobs that ended twice, or otherwise than without the fault", () => {
    expect(violations([...asItShouldBe, completed])).to.deep.equal(["job-1 ended 2 times"]);
    const failed: Told = ["JobFailed", { counts, error: { code: "smtp-unavailable" } }];
    expect(violations([...asItShouldBe.slice(0, -1), failed])).to.deep.equal(["job-1 is failed: smtp-unavailable"]);
  });

  it("counts second copies by their Message-ID", () => {
    expect(duplicatesAmong(bothMails)).to.equal(0);
    expect(duplicatesAmong([...bothMails, mail(ada, 0), mail(ada, 0)])).to.equal(2);
    expect(violations(asItShouldBe, [...bothMails, mail(ada, 9)]).join()).to.include("different Message-IDs");
  });

  it("finds events that were changed or removed", () => {
    const before = told(asItShouldBe);
    const changed = before.map((event) => (event.sequence === 3 ? { ...event, sha256: "other" } : event));
    expect(changesOf(before, changed.slice(0, -1))).to.deep.equal([
      "event 3, a RecipientSent, is changed",
      "event 6, a JobCompleted, is gone",
    ]);
  });
});
