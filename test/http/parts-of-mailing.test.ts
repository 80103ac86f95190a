import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { createPart } from "../../src/mailings/create-part.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  jobCompleted,
  jobContentErased,
  jobStarted,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { cause, decide, draftMailing, importInto, people, stateOf } from "../support/mailings.ts";

const room = { isLeftForJobs: async () => true };

type Line = {
  readonly id: string;
  readonly jobId: string;
  readonly recipient: number;
  readonly email: string;
  readonly status: string;
};

describe("The recipients of a mailing as a whole", () => {
  let service: ApiWithReadSide;
  let mailing: JobRef;
  let parts: readonly JobRef[];

  /** Of three parts of 3, 2 and 4 recipients, two are jobs, of which the first has ended. What happens to them is mixed. */
  beforeEach(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    mailing = await draftMailing(readSide);
    await importInto(readSide, mailing, people(3));
    await importInto(readSide, mailing, people(2, 10));
    await importInto(readSide, mailing, people(4, 20));
    await decide(readSide, mailing, { type: "StartMailing", at: now, scheduledAt: null });
    const state = await stateOf(readSide, mailing);
    parts = state.parts.map(({ jobId }) => ({ ...mailing, jobId }));
    for (const part of [0, 1]) await createPart({ ...readSide, room }, mailing, state, part, cause);
    const [first, second] = parts as [JobRef, JobRef];
    await readSide.happens(first, jobStarted(), recipientDeferred({ recipient: 0 }));
    await readSide.happens(second, jobStarted(), recipientFailed({ recipient: 1 }));
    await readSide.happens(
      first,
      recipientSent({ recipient: 2 }),
      recipientSent({ recipient: 0, attempt: 2 }),
      jobCompleted(),
    );
  });
  afterEach(() => service.close());

  const project = async (): Promise<void> => {
    service.readSide.startProjector(jobsProjector);
    await service.readSide.caughtUp("jobs");
  };
  const ask = (what: string, query = "", headers: Record<string, string> = {}) =>
    service.api.ask("GET", `/api/mailings/${mailing.jobId}/${what}${query}`, { headers });
  const partOf = ({ jobId }: { readonly jobId: string }) => parts.findIndex((part) => part.jobId === jobId);
  const shown = (body: { readonly data: readonly Line[] }) =>
    body.data.map((one) => [partOf(one), one.recipient, one.email, one.status]);

  it("are those of the parts that are jobs, part by part, each with its present state", async () => {
    await project();
    const { status, headers, body } = await ask("recipients");
    expect([status, headers.get("Read-Sequence"), body.nextCursor]).to.deep.equal([
      200,
      String((await service.readSide.log.state()).lastSequence),
      null,
    ]);
    expect(shown(body)).to.deep.equal([
      [0, 0, "person0@example.com", "sent"],
      [0, 1, "person1@example.com", "pending"],
      [0, 2, "person2@example.com", "sent"],
      [1, 0, "person10@example.com", "pending"],
      [1, 1, "person11@example.com", "failed"],
    ]);
    expect(body.data[0]).to.deep.include({ attempts: 2, attempt: 2, sentAt: now, response: "250 2.0.0 OK" });
    // The third part is a job once it is needed.
    await createPart({ ...service.readSide, room }, mailing, await stateOf(service.readSide, mailing), 2, cause);
    await service.readSide.caughtUp("jobs");
    expect((await ask("recipients")).body.data).to.have.lengthOf(9);
  });

  it("are each on one page of a cursor, of any length, across parts", async () => {
    await project();
    const whole = shown((await ask("recipients")).body);
    for (const pageSize of [1, 2, 3, 4, 5]) {
      const found: unknown[] = [];
      for (let cursor: string | null = null; ; ) {
        const { status, body } = await ask(
          "recipients",
          `?pageSize=${pageSize}${cursor === null ? "" : `&cursor=${cursor}`}`,
        );
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(body.data.length).to.be.at.most(pageSize);
        found.push(...shown(body));
        cursor = body.nextCursor;
        if (cursor === null) break;
      }
      expect(found, `in pages of ${pageSize}`).to.deep.equal(whole);
    }
    expect((await ask("recipients", "?cursor=7")).status).to.equal(400);
  });

  it("can be asked for some statuses, and for a whole address in any case", async () => {
    await project();
    const emails = async (query: string) =>
      (await ask("recipients", query)).body.data.map(({ email }: Line) => email.split("@")[0]);
    expect(await emails("?status=failed")).to.deep.equal(["person11"]);
    expect(await emails("?status=failed,pending")).to.deep.equal(["person1", "person10", "person11"]);
    expect(await emails("?status=pending&pageSize=1")).to.deep.equal(["person1"]);
    expect(await emails("?status=unknown")).to.deep.equal([]);
    expect(await emails("?email=PERSON2@example.com")).to.deep.equal(["person2"]);
    // Not tried yet: its address is in the content of an open part alone.
    expect(await emails("?email=Person10@example.com")).to.deep.equal(["person10"]);
    expect(await emails("?email=person1@example.com&status=sent")).to.deep.equal([]);
    expect(await emails("?email=person")).to.deep.equal([]);
    expect(await emails("?email=person20@example.com")).to.deep.equal([]);
  });

  it("have a log of all parts in the order in which it happened, in pages of any length", async () => {
    await project();
    const { status, headers, body } = await ask("logs");
    expect([status, headers.get("Link")]).to.deep.equal([200, null]);
    const lines = (entries: readonly Line[]) => entries.map((one) => [partOf(one), one.recipient, one.status]);
    expect(lines(body)).to.deep.equal([
      [0, 0, "deferred"],
      [1, 1, "failed"],
      [0, 2, "success"],
      [0, 0, "success"],
    ]);
    const [first] = parts as [JobRef];
    const ofJob = (await service.api.ask("GET", `/api/jobs/${first.jobId}/logs`)).body as readonly Line[];
    expect(body.filter((line: Line) => partOf(line) === 0)).to.deep.equal(
      ofJob.map((line) => ({ ...line, jobId: first.jobId })),
    );
    for (const limit of [1, 2, 3]) {
      const found: Line[] = [];
      for (let path: string | null = `/api/mailings/${mailing.jobId}/logs?limit=${limit}`; path !== null; ) {
        const page = await service.api.ask("GET", path);
        expect(page.body.length).to.be.at.most(limit);
        found.push(...page.body);
        path = /<(.*)>/.exec(page.headers.get("Link") ?? "")?.[1] ?? null;
      }
      expect(found, `in pages of ${limit}`).to.deep.equal(body);
    }
    expect(lines((await ask("logs", "?status=failed")).body)).to.deep.equal([[1, 1, "failed"]]);
    expect(lines((await ask("logs", "?email=Person0@example.com")).body)).to.deep.equal([
      [0, 0, "deferred"],
      [0, 0, "success"],
    ]);
    expect(lines((await ask("logs", `?after=${body[1].id}`)).body)).to.deep.equal(lines(body).slice(2));
  });

  it("do not exist for another tenant's mailing, nor for a job, and are not shown before they are projected", async () => {
    const other = await draftMailing(service.readSide, "other");
    const before = await ask("recipients");
    expect([before.status, before.body.code]).to.deep.equal([503, "read-model-behind"]);
    await project();
    for (const what of ["recipients", "logs", "events"]) {
      for (const id of [other.jobId, parts[0]?.jobId, "0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f"]) {
        const { status, body } = await service.api.ask("GET", `/api/mailings/${id}/${what}`);
        expect([status, body.code], `${what} of ${id}`).to.deep.equal([404, "mailing-not-found"]);
      }
    }
    const { lastSequence } = await service.readSide.log.state();
    const later = await ask("logs", "", { "Min-Sequence": String(lastSequence + 1) });
    expect([later.status, later.body.code]).to.deep.equal([503, "read-model-behind"]);
  });

  it("are in no list once the mailing was taken out of the lists", async () => {
    await project();
    await decide(service.readSide, mailing, { type: "CancelMailing", at: now, reason: null });
    await decide(service.readSide, mailing, {
      type: "RetireMailing",
      at: now,
      restingBefore: "2999-01-01T00:00:00.000Z",
      reason: "retention",
    });
    for (const part of parts.slice(0, 2)) {
      await service.readSide.happens(part, jobContentErased({ isRetired: true }));
    }
    await service.readSide.caughtUp("jobs");
    const { status, body } = await ask("recipients");
    expect([status, body]).to.deep.equal([200, { data: [], nextCursor: null }]);
    expect((await ask("logs")).body).to.deep.equal([]);
  });

  it("have their decisions in the mailing's own history", async () => {
    const { status, body } = await ask("events");
    expect(status).to.equal(200);
    expect(body.map(({ type }: { readonly type: string }) => type)).to.deep.equal([
      "MailingCreated",
      "MailingPartsAdded",
      "MailingPartsAdded",
      "MailingPartsAdded",
      "MailingStarted",
    ]);
    expect(body[0]).to.include({ jobId: mailing.jobId, index: 0 });
    // Its id is no job, though facts about its webhooks have it in the place of one.
    expect((await service.api.ask("GET", `/api/jobs/${mailing.jobId}/events`)).status).to.equal(404);
  });
});
