import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { createResolveHost, type ResolveHost } from "../../src/signed-post/resolve-host.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const never = new AbortController().signal;

describe("The addresses of a host", () => {
  let dns: DnsServer;
  let resolve: ResolveHost;

  before(async () => {
    dns = await startDnsServer({ "hooks.test": { A: ["192.0.2.1", "192.0.2.2"] }, "own.test": { A: ["192.0.2.3"] } });
    const hostsFile = join(await temporaryFolder(), "hosts");
    await writeFile(hostsFile, "127.0.0.1 localhost\n10.0.0.7\tother Own.test # ours\n::1 own.test\n");
    resolve = createResolveHost({ servers: [dns.address], hostsFile });
  });
  after(() => dns.stop());

  it("are those that DNS has", async () => {
    expect(await resolve("hooks.test", never)).to.have.deep.members([
      { address: "192.0.2.1", family: 4 },
      { address: "192.0.2.2", family: 4 },
    ]);
  });

  it("are those of the hosts file first", async () => {
    expect(await resolve("own.test", never)).to.deep.equal([
      { address: "10.0.0.7", family: 4 },
      { address: "::1", family: 6 },
    ]);
  });

  it("are found while the DNS of many other hosts never answers", async () => {
    const silent = Array.from({ length: 20 }, (_, index) => `silent-${index}.test`);
    for (const name of silent) dns.silent.add(name);
    const waiting = silent.map((name) => resolve(name, AbortSignal.timeout(2000)));
    const begunAt = performance.now();
    expect(await resolve("hooks.test", never)).to.have.length(2);
    // A thread that waits for DNS waits for ten seconds.
    expect(performance.now() - begunAt).to.be.below(4000);
    for (const found of await Promise.all(waiting)) expect(found).to.deep.equal([]);
  });

  it("are those of one family where DNS does not answer for the other", async () => {
    dns.silent.add("AAAA hooks.test");
    const begunAt = performance.now();
    expect(await resolve("hooks.test", never)).to.have.length(2);
    expect(performance.now() - begunAt).to.be.below(3000);
    dns.silent.clear();
  });

  it("are asked of the machine where DNS knows no such host", async () => {
    const outcome = await resolve("nowhere.invalid", never).catch((failure: NodeJS.ErrnoException) => failure.code);
    expect(outcome).to.be.oneOf(["ENOTFOUND", "EAI_AGAIN"]);
  });
});
