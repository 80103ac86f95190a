import { once } from "node:events";
import { rm } from "node:fs/promises";
import { get } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Received = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: Buffer };

/** Unlike fetch it leaves the body as it came. */
async function receive(url: string, headers: Record<string, string> = {}): Promise<Received> {
  const [response] = await once(get(url, { headers }), "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

describe("The files of the dashboard", () => {
  let api: RunningApi;
  let page: string;

  before(async () => {
    api = await startApi({ dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }) });
    page = (await receive(`${api.url}/`)).body.toString();
  });
  after(() => api.close());

  const assets = () => [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => `${api.url}/${path}`);

  it("are a page that runs only its own scripts, for every request", async () => {
    const { status, headers } = await receive(`${api.url}/`);
    expect(status).to.equal(200);
    expect(headers["content-type"]).to.equal("text/html; charset=utf-8");
    const policy = String(headers["content-security-policy"]);
    expect(policy).to.contain("default-src 'none'").and.contain("require-trusted-types-for 'script'");
    expect(policy).not.to.contain("unsafe");
    expect(page).not.to.match(/<script>|<style|\s(style|on\w+)=/);
    expect(page).not.to.match(/(src|href)="(https?:)?\/\//);
  });

  it("are asked for again only when they have changed", async () => {
    for (const path of ["/", "/mail-frame"]) {
      const { headers } = await receive(api.url + path);
      expect(headers["cache-control"]).to.equal("no-cache");
      const again = await receive(api.url + path, { "If-None-Match": String(headers["etag"]) });
      expect([again.status, again.body.length]).to.deep.equal([304, 0]);
    }
    for (const asset of assets()) {
      expect((await receive(asset)).headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
    }
  });

  it("are not kept under the digest of another release", async () => {
    const [asset = ""] = assets();
    const others = asset.replace(/-[0-9a-f]+\./, `-${"0".repeat(16)}.`);
    const { status, headers } = await receive(others);
    expect([status, headers["cache-control"]]).to.deep.equal([200, "no-store"]);
    expect((await receive(`${api.url}/assets/other.js`)).status).to.equal(404);
    expect((await receive(`${api.url}/assets/..%2Fmain.js`)).status).to.equal(404);
  });

  it("are less than 85 kB together as they are sent", async () => {
    let sum = 0;
    for (const asset of assets()) {
      const packed = await receive(asset, { "Accept-Encoding": "gzip, br" });
      expect(packed.headers["content-encoding"]).to.equal("gzip");
      expect(packed.headers["vary"]).to.equal("Accept-Encoding");
      const plain = await receive(asset, { "Accept-Encoding": "gzip;q=0" });
      expect(gunzipSync(packed.body).equals(plain.body)).to.equal(true);
      sum += packed.body.length;
    }
    expect(assets()).to.have.length(2);
    expect(sum).to.be.lessThan(85_000);
  });

  it("give mails a frame where nothing runs and nothing is fetched", async () => {
    const policy = String((await receive(`${api.url}/mail-frame`)).headers["content-security-policy"]);
    expect(policy).to.contain("default-src 'none'").and.contain("sandbox allow-same-origin");
    expect(policy).not.to.contain("script-src").and.not.to.contain("allow-scripts");
  });

  it("are answered with 404 where they were not built", async () => {
    const folder = await temporaryFolder();
    const dashboard = await readDashboard({ hasMailbox: false, eventTypes: [], folder: `${folder}/` });
    expect(dashboard).to.equal(null);
    const without = await startApi({ dashboard });
    expect((await receive(`${without.url}/`)).status).to.equal(404);
    await without.close();
    await rm(folder, { recursive: true });
  });
});
