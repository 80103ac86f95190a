import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { Waybill } from "../../src/sdk/client.ts";
import { toLinesBody } from "../../src/sdk/recipient-lines.ts";
import { failureOf } from "../support/failure-of.ts";
import { startApi } from "../support/running-api.ts";

describe("The lines that the client sends", () => {
  const silenceMs = 20;

  it("keep the connection alive while their source is slow, and are numbered as before", async () => {
    const api = await startApi();
    const { mailingId } = await new Waybill({ url: api.url }).mailings.create({ subject: "News", text: "Hi" });
    async function* slow() {
      yield "ada@example.com";
      await pause(200);
      yield "nobody@";
      await pause(200);
      yield { email: "bob@example.com" };
    }
    const { open } = await toLinesBody(slow(), silenceMs);
    const [sent, looked] = (open() as ReadableStream<Uint8Array>).tee();
    const body = { method: "PUT", body: sent, duplex: "half", headers: { "Content-Type": "application/x-ndjson" } };
    const answering = fetch(`${api.url}/api/mailings/${mailingId}/recipients`, body as RequestInit);
    expect(await new Response(looked).text()).to.match(/^ {3,}/);
    const { lines, added, faults } = (await (await answering).json()) as {
      lines: number;
      added: number;
      faults: readonly { line: number }[];
    };
    expect([lines, added, faults.map(({ line }) => line)]).to.deep.equal([3, 2, [2]]);
    await api.close();
  });

  it("break off with the failure of their source, however late it comes", async () => {
    async function* failing() {
      yield "ada@example.com";
      await pause(100);
      throw new Error("The database is gone.");
    }
    const { open, broken } = await toLinesBody(failing, silenceMs);
    expect((await failureOf(new Response(open()).text())).message).to.equal("The database is gone.");
    expect(broken()?.reason).to.be.instanceOf(Error);
  });
});
