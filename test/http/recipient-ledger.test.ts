import { expect } from "chai";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  earlier,
  jobCreated,
  jobRetried,
  later,
  now,
  recipientDeferred,
  recipientFailed,
  recipientSent,
  rejectedMailbox,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { mailing } from "../support/running-api.ts";

describe("The ledger of a person", () => {
  let service: ApiWithReadSide;

  beforeEach(async () => {
    service = await startApiWithReadSide();
    service.readSide.startProjector(jobsProjector);
  });
  afterEach(() => service.close());

  const ask = (query: string, headers: Record<string, string> = {}) =>
    service.api.ask("GET", `/api/recipients${query}`, { headers });
  const mailTo = async (email: string, subject: string, tenant = "default"): Promise<JobRef> => {
    const job = newJob(tenant);
    await service.readSide.storeContent(job, { subject, recipients: [{ email: "bob@example.com" }, { email }] });
    await service.readSide.happens(job, jobCreated({ total: 2 }, earlier));
    return job;
  };
  const subjectsIn = (body: { data: readonly { subject: string }[] }) => body.data.map(({ subject }) => subject);

  it("tells every mailing to an address, in any case, the newest first, with all that happened", async () => {
    const first = await mailTo("Ada@Example.com", "First");
    const second = await mailTo("ada@example.COM", "Second");
    await service.readSide.happens(first, recipientFailed({ recipient: 1 }), jobRetried({}, now));
    const last = await service.readSide.happens(first, recipientSent({ recipient: 1, run: 2 }, later));
    await service.readSide.happens(second, recipientDeferred({ recipient: 1 }));
    await service.readSide.caughtUp("jobs");
    const { status, headers, body } = await ask("?email=aDa@example.com");
    expect(status).to.equal(200);
    expect(headers.get("Read-Sequence")).to.equal("6");
    expect(body.nextCursor).to.equal(null);
    expect(subjectsIn(body)).to.deep.equal(["Second", "First"]);
    const { code, message } = rejectedMailbox;
    const { messageId, response } = recipientSent().data;
    const [, told] = body.data;
    expect(told).to.deep.equal({
      jobId: first.jobId,
      recipient: 1,
      email: "Ada@Example.com",
      type: "email.send",
      name: "November",
      subject: "First",
      status: "sent",
      createdAt: earlier,
      updatedAt: later,
      history: [
        {
          ...{ sequence: 3, index: 0, run: 1, attempt: 1, status: "failed", at: now, counts: true },
          ...{ messageId: null, response: message, error: { code, message } },
        },
        {
          ...{ sequence: last, index: 0, run: 2, attempt: 1, status: "sent", at: later, counts: true },
          ...{ messageId, response, error: null },
        },
      ],
    });
  });

  it("goes on by its cursor without a gap or a repetition, also while mailings come in", async () => {
    for (const subject of ["1", "2", "3", "4", "5"]) await mailTo("ada@example.com", subject);
    await service.readSide.caughtUp("jobs");
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await ask(`?email=ada@example.com&limit=2${cursor}`);
      seen.push(...subjectsIn(body));
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
      await mailTo("ada@example.com", "new");
      await service.readSide.caughtUp("jobs");
    } while (cursor !== "");
    expect(seen).to.deep.equal(["5", "4", "3", "2", "1"]);
  });

  it("holds what was accepted a moment ago", async () => {
    await service.api.ask("POST", "/api/jobs", { body: mailing });
    const { body } = await ask("?email=ada@example.com");
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.deep.include({ status: "pending", subject: mailing.subject, history: [] });
  });

  it("holds nothing of another tenant, nor of a similar address", async () => {
    await mailTo("ada@example.com", "Theirs", "other");
    await mailTo("ada@example.com.au", "Another's");
    await mailTo("áda@example.com", "Accented");
    await service.readSide.caughtUp("jobs");
    expect((await ask("?email=ada@example.com")).body).to.deep.equal({ data: [], nextCursor: null });
  });

  it("waits for what the client has seen, and says so where it does not come", async () => {
    const { status, body } = await ask("?email=ada@example.com", { "Min-Sequence": "99" });
    expect({ status, code: body.code }).to.deep.equal({ status: 503, code: "read-model-behind" });
  });

  it("is told of URLs as well, however long", async () => {
    const url = `https://example.com/${"hook".repeat(200)}`;
    await mailTo(url, "One");
    await mailTo(`${url}?other`, "Other");
    await service.readSide.caughtUp("jobs");
    expect(subjectsIn((await ask(`?email=${encodeURIComponent(url)}`)).body)).to.deep.equal(["One"]);
  });

  it("leaves no address in what the process logs", async () => {
    await ask("?email=ada@example.com");
    await ask("?email=ada.example.com");
    await service.api.ask("GET", "/api/recipient?email=ada@example.com");
    expect(service.api.logged.join("\n"))
      .to.include('"route":"/api/recipients"')
      .and.not.match(/ada(@|%40|\.)/);
  });

  for (const [query, ...pointers] of [
    ["", "?email"],
    ["?email=", "?email"],
    ["?email=ada", "?email"],
    ["?email=ada+invoices@example.com", "?email"],
    ["?email=ada@example.com&email=bob@example.com", "?email"],
    ["?limit=101&cursor=5&address=ada@example.com", "?address", "?cursor", "?email", "?limit"],
  ] as const) {
    it(`is refused with ${query === "" ? "no query" : query}`, async () => {
      const { status, body } = await ask(query);
      expect(status).to.equal(400);
      expect(body.errors.map((error: { pointer: string }) => error.pointer)).to.deep.equal(pointers);
    });
  }
});
