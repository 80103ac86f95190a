import { expect } from "chai";
import { openApiReference } from "../../src/api-reference/api-reference.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The page that shows the API", function () {
  this.timeout(120_000);
  let api: RunningApi;
  let watched: WatchedPage;

  before(async () => {
    api = await startApi({ apiReference: await openApiReference() });
    watched = await openPage(`${api.url}/docs`);
    // It is large, and other tests may be at work.
    watched.page.setDefaultTimeout(60_000);
  });
  after(async () => {
    await watched?.close();
    await api?.close();
  });
  afterEach(() => expect(watched.sins).to.deep.equal([]));

  it("shows what can be asked, with nothing loaded from elsewhere and nothing that its policy forbids", async () => {
    await watched.page.getByText("Create a job; sending begins after the answer.").waitFor();
    const { headers } = await fetch(`${api.url}/docs`);
    expect(headers.get("Content-Security-Policy")).to.contain("default-src 'none'").and.not.contain("unsafe");
  });

  it("asks the service itself, and shows what it answers", async () => {
    const { page } = watched;
    const operation = page.locator("#operations-me-readCaller");
    await operation.getByText("The tenant, actor and scopes of the caller").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    await operation.locator(".live-responses-table").getByText("anonymous").waitFor();
  });

  it("can be read with a strong contrast", async () => {
    // What else there is to find stands in Swagger UI's own markup.
    const barriers = await watched.findBarriers();
    expect(barriers.filter((barrier) => barrier.startsWith("color-contrast"))).to.deep.equal([]);
  });

  it("has its files sent again only when they have changed, and has no others", async () => {
    const first = await fetch(`${api.url}/docs/swagger-ui-bundle.js`);
    expect(first.headers.get("Content-Encoding")).to.equal("gzip");
    await first.arrayBuffer();
    const headers = { "If-None-Match": first.headers.get("ETag") ?? "" };
    expect((await fetch(`${api.url}/docs/swagger-ui-bundle.js`, { headers })).status).to.equal(304);
    for (const name of ["LICENSE", "page.html", "..%2Fapi-reference.js", "constructor"]) {
      const { status } = await fetch(`${api.url}/docs/${name}`);
      expect(status, name).to.equal(name === "page.html" ? 200 : 404);
    }
  });
});
