import { expect } from "chai";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import type { SealedLog } from "../../src/seals/sealed-log.ts";
import { eventually } from "../support/eventually.ts";
import { mailing, startApi } from "../support/running-api.ts";

describe("Requests for evidence", () => {
  it("that wait for their turn are left out when their client goes", async () => {
    const asked: (() => void)[] = [];
    const lastSeal = async (): Promise<never> => {
      await new Promise<void>((resolve) => asked.push(resolve));
      throw new Unavailable("There is no stream in memory.");
    };
    const sealer = { sealNow: lastSeal, sealWhatIsDue: lastSeal };
    const api = await startApi({
      seals: { key: newSealKey(), sealedLog: { lastSeal } as unknown as SealedLog, sealer },
    });
    const { jobId } = (await api.ask("POST", "/api/jobs", { body: mailing })).body;
    const path = `/api/jobs/${jobId}/evidence`;
    const first = api.ask("GET", path);
    await eventually(() => expect(asked).to.have.length(1));
    for (let count = 0; count < 3; count += 1) {
      const leaving = new AbortController();
      const left = fetch(api.url + path, { signal: leaving.signal }).catch(() => null);
      // The service has taken it once it has an answer for one that came later.
      await api.ask("GET", `/api/jobs/${jobId}`);
      leaving.abort();
      await left;
    }
    const last = api.ask("GET", path);
    await api.ask("GET", `/api/jobs/${jobId}`);
    asked[0]?.();
    expect((await first).status).to.equal(503);
    await eventually(() => expect(asked).to.have.length(2));
    asked[1]?.();
    expect((await last).status).to.equal(503);
    expect(asked).to.have.length(2);
    await api.close();
  });
});
