import { expect } from "chai";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { now } from "../support/examples.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("the suppression list over HTTP", () => {
  let api: RunningApi;
  const suppressions = createSuppressionList(createMemorySuppressionStore());

  before(async () => {
    api = await startApi({ suppressions });
  });
  after(() => api.close());

  const post = (body: unknown) => api.ask("POST", "/api/suppressions", { body });
  const get = (query = "") => api.ask("GET", `/api/suppressions${query}`);

  it("takes an address once, and says what it has of it", async () => {
    const suppression = { email: "ada@example.com", reason: "manual", createdAt: now };
    const first = await post({ email: "ada@example.com" });
    expect([first.status, first.body]).to.deep.equal([201, suppression]);
    const again = await post({ email: "ADA@Example.com", reason: "unsubscribe" });
    expect([again.status, again.body]).to.deep.equal([200, suppression]);
    expect((await get("?email=Ada%40example.com")).body).to.deep.equal({ data: [suppression], nextCursor: null });
    expect((await get("?email=bob%40example.com")).body).to.deep.equal({ data: [], nextCursor: null });
  });

  it("lists in pages, by cursor, in the order in which they came", async () => {
    for (const name of ["b", "c", "d"]) await post({ email: `${name}@example.com`, reason: "hard-bounce" });
    const first = await get("?limit=3");
    expect(first.body.data.map(({ email }: { email: string }) => email)).to.deep.equal([
      "ada@example.com",
      "b@example.com",
      "c@example.com",
    ]);
    const second = await get(`?limit=3&cursor=${first.body.nextCursor}`);
    expect(second.body).to.deep.equal({
      data: [{ email: "d@example.com", reason: "hard-bounce", createdAt: now }],
      nextCursor: null,
    });
  });

  it("shows no address that was forgotten, and goes on knowing it", async () => {
    await suppressions.forgetAddress("default", "d@example.com");
    const { body } = await get("?email=d%40example.com");
    expect(body.data).to.deep.equal([{ email: null, reason: "hard-bounce", createdAt: now }]);
  });

  it("lets an address go, and has nothing to let go the second time", async () => {
    expect((await api.ask("DELETE", "/api/suppressions/B%40EXAMPLE.com")).status).to.equal(204);
    const again = await api.ask("DELETE", "/api/suppressions/b%40example.com");
    expect([again.status, again.body.code]).to.deep.equal([404, "suppression-not-found"]);
    expect((await api.ask("DELETE", "/api/suppressions/no-address")).status).to.equal(404);
    expect((await get("?email=b%40example.com")).body.data).to.deep.equal([]);
  });

  it("lists all faults of a request", async () => {
    const wrong = await post({ email: "ada@", reason: "because", until: "tomorrow" });
    expect(wrong.status).to.equal(400);
    expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "/email",
      "/reason",
      "/until",
    ]);
    expect((await post(undefined)).status).to.equal(400);
    const query = await get("?email=nobody&limit=101&cursor=x&reason=manual");
    expect(query.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      "?cursor",
      "?email",
      "?limit",
      "?reason",
    ]);
  });

  it("leaves no address in the log of the process", () => {
    expect(api.logged.join(""))
      .to.include("/api/suppressions")
      .and.not.match(/example\.com/i);
  });
});
