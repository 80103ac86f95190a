import { type ClientRequest, get } from "node:http";
import { expect } from "chai";
import { writeHistory } from "../bench/write-history.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const mailing = { subject: "Your invoice", body: "Hello", recipients: ["ada@example.com"] };

describe("Twenty readers of a long past", function () {
  this.timeout(120_000);

  let stage: Stage;
  let api: WaybillProcess;
  let client: ApiClient;

  before(async () => {
    stage = await setStage();
    await writeHistory(stage.surroundings, 22_000);
    api = await spawnWaybill(stage.surroundings, "api");
    client = createApiClient(api.url);
  });
  after(async () => {
    await api.terminate();
    await stage.cleanUp();
  });

  const medianOfPosts = async (): Promise<number> => {
    const times: number[] = [];
    for (let count = 0; count < 25; count += 1) {
      const beganAt = performance.now();
      await client.create(mailing);
      times.push(performance.now() - beganAt);
    }
    return times.sort((one, other) => one - other)[12] ?? 0;
  };

  it("do not keep jobs from being created", async () => {
    await medianOfPosts();
    // Something else may keep the machine busy for a while, and so one of the two that are compared.
    await eventually(async () => {
      const alone = await medianOfPosts();
      const reading = readAgainAndAgain(`${api.url}/api/events?wait=0`, 20);
      const beside = await medianOfPosts().finally(reading.stop);
      expect(reading.bytes()).to.be.greaterThan(100_000);
      expect(beside).to.be.lessThan(8 * alone + 30);
    }, 60_000);
  });
});

/** So many clients, of which each begins anew when it is through, and comes again when it is told to. */
function readAgainAndAgain(url: string, clients: number) {
  const open = new Set<ClientRequest>();
  let isStopped = false;
  let bytes = 0;
  const read = (): void => {
    if (isStopped) return;
    const request = get(url, { agent: false, headers: { Accept: "application/x-ndjson" } }, (answer) => {
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on("end", () => setTimeout(read, Number(answer.headers["retry-after"] ?? 0) * 1000).unref());
      answer.on("error", () => {});
    });
    request.on("error", () => {});
    request.on("close", () => open.delete(request));
    open.add(request);
  };
  for (let count = 0; count < clients; count += 1) read();
  return {
    bytes: () => bytes,
    stop: () => {
      isStopped = true;
      for (const request of open) request.destroy();
    },
  };
}
