import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

// biome-ignore lint/suspicious/noExplicitAny: the test looks into answers whose shape is what it tests.
type Json = any;

describe("a mailing from a template", function () {
  this.timeout(60_000);

  let stage: Stage;
  let waybill: Waybill;

  before(async () => {
    stage = await setStage();
    waybill = await startWaybill(stage.surroundings);
  });
  after(async () => {
    await waybill.stop();
    await stage.cleanUp();
  });

  const ask = async (method: string, path: string, body?: object | string): Promise<Json> => {
    const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(waybill.url + path, {
      method,
      ...(body === undefined ? {} : { headers: { "Content-Type": type }, body: sent }),
    });
    expect(response.ok, `${method} ${path}: ${response.status}`).to.equal(true);
    return response.json();
  };

  it("goes out in the words of its version, and each of its jobs says which one that was", async () => {
    const put = (subject: string) => ask("PUT", "/api/templates/news", { subject, body: "Dear {{ name }}" });
    const { sha256 } = await put("First edition for {{ name }}");
    const { mailingId, template } = await ask("POST", "/api/mailings", { template: "news" });
    expect(template).to.deep.equal({ name: "news", version: 1, sha256 });
    await put("Second edition");
    await ask(
      "PUT",
      `/api/mailings/${mailingId}/recipients`,
      '{"email":"ada@example.com","variables":{"name":"Ada"}}\n',
    );
    await ask("POST", `/api/mailings/${mailingId}/start`);
    await eventually(async () => {
      expect((await ask("GET", `/api/mailings/${mailingId}`)).status).to.equal("completed");
    }, 30_000);
    expect(stage.mailServer.mails.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1])).to.deep.equal([
      "First edition for Ada",
    ]);
    const { data: jobs } = await ask("GET", `/api/jobs?mailing=${mailingId}`);
    const [created] = await ask("GET", `/api/jobs/${jobs[0].id}/events`);
    expect(created.type).to.equal("JobCreated");
    expect(created.data.template).to.deep.equal({ name: "news", version: 1, sha256 });
  });
});
