import { expect } from "chai";
import { namesPerHour } from "../../projections/mail-rates/count-mails.ts";
import { mailRatesProjector } from "../../projections/mail-rates/projector.ts";
import { checkRows } from "../../projections/rebuilding/check-rows.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import {
  jobCreated,
  jobStarted,
  now,
  recipientBounced,
  recipientComplained,
  recipientDeferred,
  recipientFailed,
  recipientSent,
} from "../support/examples.ts";
import { newJob } from "../support/happen.ts";

const hourMs = 3_600_000;
const ago = (hours: number): string => new Date(Date.parse(now) - hours * hourMs).toISOString();
const to = (...emails: readonly string[]) => ({ recipients: emails.map((email) => ({ email })) });

describe("What became of mails, by sender, route and receiver", () => {
  let service: ApiWithReadSide;

  before(async () => {
    service = await startApiWithReadSide();
    const { readSide } = service;
    const first = newJob();
    const people = to("ada@gmail.com", "bob@googlemail.com", "cid@example.com");
    await readSide.storeContent(first, { ...people, from: "Shop <shop@Example.org>" });
    const at = ago(3);
    await readSide.happens(
      first,
      jobCreated({}, at),
      jobStarted({}, at),
      recipientDeferred({}, at),
      recipientSent({ route: "second" }, at),
      recipientSent({ recipient: 1 }, at),
      recipientFailed({ recipient: 2, route: "second" }, at),
    );
    await readSide.happens(first, recipientBounced({ recipient: 0 }, ago(2)));
    await readSide.happens(first, recipientComplained({ recipient: 1 }, ago(1)));
    const other = newJob("acme");
    await readSide.storeContent(other, to("ada@gmail.com"));
    await readSide.happens(other, jobCreated({ total: 1 }, at), jobStarted({}, at), recipientSent({}, at));
    const notAnswered = newJob();
    const offline = { code: "unsendable", message: "no", replyCode: null, statusCode: null };
    await readSide.storeContent(notAnswered, to("ada@gmail.com"));
    await readSide.happens(notAnswered, jobCreated({ total: 1 }, at), recipientFailed({ error: offline }, at));
    const webhook = newJob();
    await readSide.storeContent(webhook, { ...to("https://example.net/hook"), subject: null });
    await readSide.happens(webhook, jobCreated({ total: 1 }, at), recipientSent({}, at));
    const erased = newJob();
    await readSide.happens(erased, jobCreated({}, at), recipientSent({}, at));
    readSide.startProjector(mailRatesProjector);
    await readSide.caughtUp("mail-rates");
  });
  after(() => service.close());

  const ask = (query = "") => service.api.ask("GET", `/api/stats/mail-rates${query}`);

  it("is counted for each receiver, the domains of a provider together, for the caller's tenant alone", async () => {
    const { status, body } = await ask();
    expect(status).to.equal(200);
    expect(body).to.include({ by: "receiver", to: now, points: null });
    expect(body.rates).to.deep.equal([
      {
        name: "gmail.com",
        ...{ sent: 2, deferred: 1, failed: 0, bounced: 1, complained: 1 },
        ...{ failureRate: 0, bounceRate: 0.5, complaintRate: 0.5 },
      },
      {
        name: "example.com",
        ...{ sent: 0, deferred: 0, failed: 1, bounced: 0, complained: 0 },
        ...{ failureRate: 1, bounceRate: null, complaintRate: null },
      },
    ]);
  });

  it("is counted for each route: what comes back, for the route that the mail went by", async () => {
    const { body } = await ask("?by=route");
    const counts = body.rates.map(({ name, sent, failed, bounced, complained }: Record<string, unknown>) => [
      ...[name, sent, failed, bounced, complained],
    ]);
    expect(counts).to.deep.equal([
      ["default", 1, 0, 0, 1],
      ["second", 1, 1, 1, 0],
    ]);
  });

  it("is counted for each domain of a sender", async () => {
    const { body } = await ask("?by=sender");
    expect(body.rates.map(({ name, sent }: Record<string, unknown>) => [name, sent])).to.deep.equal([
      ["example.org", 2],
    ]);
  });

  it("is shown hour by hour for one name", async () => {
    const { body } = await ask("?name=gmail.com");
    expect(
      body.points.map(({ at, sent, bounced, complained }: Record<string, unknown>) => [at, sent, bounced, complained]),
    ).to.deep.equal([
      [ago(3).replace(/:.*/, ":00:00.000Z"), 2, 0, 0],
      [ago(2).replace(/:.*/, ":00:00.000Z"), 0, 1, 0],
      [ago(1).replace(/:.*/, ":00:00.000Z"), 0, 0, 1],
    ]);
    expect(body.rates).to.have.lengthOf(1);
    expect((await ask("?name=nothing.example")).body).to.deep.include({ rates: [], points: [] });
  });

  it("is shown for the time that was asked for", async () => {
    const { body } = await ask(`?from=${ago(1)}&to=${now}`);
    expect(body.rates).to.deep.include.members([
      {
        name: "gmail.com",
        ...{ sent: 0, deferred: 0, failed: 0, bounced: 0, complained: 1 },
        ...{ failureRate: null, bounceRate: null, complaintRate: null },
      },
    ]);
    for (const wrong of [`?from=${now}&to=${ago(1)}`, `?from=${ago(93 * 24)}`, "?by=weather", "?limit=101"]) {
      expect((await ask(wrong)).status, wrong).to.equal(400);
    }
  });

  it("keeps so many names of an hour apart, and counts the others together", async () => {
    const { readSide } = service;
    const job = newJob("many");
    const emails = Array.from({ length: namesPerHour + 10 }, (_, index) => `a@${index}.example`);
    await readSide.storeContent(job, to(...emails));
    const sent = emails.map((_, recipient) => recipientSent({ recipient }, now));
    await readSide.happens(job, jobCreated({ total: emails.length }, now), ...sent.slice(0, namesPerHour - 5));
    await readSide.caughtUp("mail-rates");
    await readSide.happens(job, ...sent.slice(namesPerHour - 5));
    await readSide.caughtUp("mail-rates");
    const rows: { name: string; sent: number }[] = await readSide
      .db("mail_rates")
      .where({ tenant: "many", counted_by: "receiver" });
    expect(rows).to.have.lengthOf(namesPerHour + 1);
    expect(rows.find(({ name }) => name === "*")?.sent).to.equal(10);
  });

  it("is the same after a rebuild, but for the contents that are gone, which no check takes for a fault", async () => {
    const { readSide } = service;
    const counted = async () => await readSide.db("mail_rates").where({ tenant: "default" }).orderBy("name");
    const before = await counted();
    await readSide.rebuild([mailRatesProjector]);
    expect(await counted()).to.deep.equal(before);
    await readSide.db("mail_rates").where({ tenant: "acme" }).delete();
    const differences: unknown[] = [];
    await checkRows([mailRatesProjector], {
      ...readSide.rebuildSetup(),
      onChecked: (one) => differences.push(...one.differences),
    });
    expect(differences).to.deep.equal([]);
  });
});
