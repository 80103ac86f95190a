import { expect } from "chai";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { openStream } from "../support/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const mailing = { subject: "Your invoice", body: "Hello", recipients: ["ada@example.com", "bob@example.com"] };
const rounds = 12;

describe("A client that was shown a job", function () {
  this.timeout(120_000);

  let stage: Stage;
  let waybill: Waybill;
  let other: Waybill;
  let client: ApiClient;
  let elsewhere: ApiClient;

  before(async () => {
    stage = await setStage();
    waybill = await startWaybill(stage.surroundings);
    other = await startWaybill(stage.surroundings, { ROLES: "api" });
    client = createApiClient(waybill.url);
    elsewhere = createApiClient(other.url);
  });
  after(async () => {
    await other.stop();
    await waybill.stop();
    await stage.cleanUp();
  });

  type Shown = { readonly jobId: string; readonly status: string; readonly sequence: string };

  const createAndWait = async (): Promise<Shown> => {
    const headers = { "Content-Type": "application/json", Prefer: "wait=30" };
    const answer = await eventually(async () => {
      const given = await fetch(`${waybill.url}/api/jobs`, { method: "POST", headers, body: JSON.stringify(mailing) });
      expect(given.status).to.equal(201);
      return given;
    });
    const { jobId, status } = (await answer.json()) as Shown;
    return { jobId, status, sequence: answer.headers.get("Event-Sequence") ?? "" };
  };
  const statusOf = async (asked: ApiClient, jobId: string, headers: Record<string, string> = {}): Promise<string> => {
    const { body } = await asked.get(`/api/jobs/${jobId}`, headers);
    return (body as Shown).status;
  };
  /** A list waits two seconds for the read model, and shows then what it has: on a busy machine it is asked again. */
  const statusInList = async (jobId: string): Promise<string | undefined> => {
    const askedAt = performance.now();
    const { body } = await client.get("/api/jobs");
    const isLate = performance.now() - askedAt >= 2000;
    const job = (body as { data: readonly { id: string; status: string }[] }).data.find(({ id }) => id === jobId);
    return job?.status !== "completed" && isLate ? statusInList(jobId) : job?.status;
  };

  it("at its end by a POST that waited is shown nothing older: there, in lists, and elsewhere with Min-Sequence", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { jobId, status, sequence } = await createAndWait();
      expect(status).to.equal("completed");
      const [here, listed, there] = await Promise.all([
        statusOf(client, jobId),
        statusInList(jobId),
        statusOf(elsewhere, jobId, { "Min-Sequence": sequence }),
      ]);
      expect({ here, listed, there }).to.deep.equal({ here: "completed", listed: "completed", there: "completed" });
    }
  });

  it("at its end by a stream is shown nothing older: there, and elsewhere with the event's id as Min-Sequence", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const jobId = await client.create(mailing);
      const stream = await openStream(`${waybill.url}/api/jobs/${jobId}/stream`);
      let id = "";
      for await (const event of stream.events) id = String(event.id);
      const [here, there] = await Promise.all([
        statusOf(client, jobId),
        statusOf(elsewhere, jobId, { "Min-Sequence": id }),
      ]);
      expect({ here, there }).to.deep.equal({ here: "completed", there: "completed" });
    }
  });

  it("is shown no less of it by the next answer, as often as it is asked for", async () => {
    const recipients = Array.from({ length: 300 }, (_, index) => `reader-${index}@example.com`);
    const jobId = await client.create({ ...mailing, recipients });
    let sent = 0;
    for (let status = ""; status !== "completed"; ) {
      const { body } = await client.get(`/api/jobs/${jobId}`);
      const job = body as { status: string; progress: { sent: number } };
      expect(job.progress.sent).to.be.at.least(sent);
      ({
        status,
        progress: { sent },
      } = job);
    }
  });
});
