import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import { bearer, newKey, ringOf } from "../support/keys.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("GET /api/me", () => {
  const reader = newKey({ tenant: "acme", scopes: ["events:read", "jobs:read"] });
  let api: RunningApi;

  before(async () => {
    const settings = { mode: "auto", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    api = await startApi({ access: createAccess(ringOf([reader.record]), settings) });
  });
  after(() => api.close());

  it("answers any key with its tenant and its scopes", async () => {
    for (const path of ["/api/me", "/api/v1/me"]) {
      const { status, body } = await api.ask("GET", path, { headers: bearer(reader.text) });
      expect(status).to.equal(200);
      const { id } = reader.record;
      expect(body).to.deep.equal({ tenant: "acme", actor: `key:${id}`, scopes: ["jobs:read", "events:read"] });
    }
  });

  it("refuses a request without a valid key", async () => {
    expect((await api.ask("GET", "/api/me")).body.code).to.equal("key-missing");
    expect((await api.ask("GET", "/api/me", { headers: bearer("wb_x") })).body.code).to.equal("key-invalid");
  });

  it("answers without a key where none is needed, with all scopes", async () => {
    const open = await startApi();
    const { body } = await open.ask("GET", "/api/me");
    const scopes = ["jobs:read", "jobs:write", "jobs:approve", "bounces:write", "events:read", "admin"];
    expect(body).to.deep.equal({ tenant: "default", actor: "anonymous", scopes });
    await open.close();
  });
});
