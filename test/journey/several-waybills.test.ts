import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Job = { readonly id: string; readonly status: string };

describe("Several Waybills on one NATS, each with a NATS_PREFIX", function () {
  this.timeout(120_000);

  let stage: Stage;
  let otherDatabase: TestDatabase;
  let one: Waybill;
  let other: Waybill;

  before(async () => {
    [stage, otherDatabase] = await Promise.all([setStage(), freshDatabase()]);
    const { surroundings } = stage;
    // The name of one begins with that of the other.
    const nats = { ...surroundings.nats, prefix: `${surroundings.nats.prefix}_2` };
    [one, other] = await Promise.all([
      startWaybill(surroundings),
      startWaybill({ ...surroundings, nats, mysqlUrl: otherDatabase.url }),
    ]);
  });

  after(async () => {
    await Promise.all([one.stop(), other.stop()]);
    await otherDatabase.drop();
    await stage.cleanUp();
  });

  const ask = async (url: string, body?: object): Promise<Response> =>
    await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const post = async ({ url }: Waybill, to: string): Promise<string> => {
    const answer = await ask(`${url}/api/jobs`, { subject: "Hello", body: "text", recipients: [to] });
    expect(answer.status).to.equal(201);
    return ((await answer.json()) as { readonly jobId: string }).jobId;
  };
  const jobsOf = async ({ url }: Waybill): Promise<readonly Job[]> =>
    ((await (await ask(`${url}/api/jobs`)).json()) as { readonly data: readonly Job[] }).data;
  const untilCompleted = (waybill: Waybill, jobId: string): Promise<void> =>
    eventually(async () => {
      const found = (await jobsOf(waybill)).find(({ id }) => id === jobId);
      expect(found?.status).to.equal("completed");
    });
  const mailsTo = (address: string): number => stage.mailServer.mails.filter(({ to }) => to.includes(address)).length;

  it("does the jobs of each, and shows neither of them what belongs to the other", async () => {
    const [ofOne, ofOther] = await Promise.all([post(one, "one@example.com"), post(other, "other@example.com")]);
    await Promise.all([untilCompleted(one, ofOne), untilCompleted(other, ofOther)]);
    expect((await jobsOf(one)).map(({ id }) => id)).to.deep.equal([ofOne]);
    expect((await jobsOf(other)).map(({ id }) => id)).to.deep.equal([ofOther]);
    expect([mailsTo("one@example.com"), mailsTo("other@example.com")]).to.deep.equal([1, 1]);
    expect((await ask(`${one.url}/api/jobs/${ofOther}/events`)).status).to.equal(404);
  });

  it("does the jobs of one while the other is stopped, which goes on where it was", async () => {
    await one.stop();
    await untilCompleted(other, await post(other, "meanwhile@example.com"));
    one = await startWaybill(stage.surroundings);
    await untilCompleted(one, await post(one, "afterwards@example.com"));
    expect(await jobsOf(one)).to.have.length(2);
    expect(await jobsOf(other)).to.have.length(2);
  });
});
