import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const read = (path: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

describe("The version of a release", () => {
  it("is the same wherever it is written", async () => {
    const { version } = JSON.parse(await read("package.json"));
    const locked = JSON.parse(await read("package-lock.json"));
    expect([locked.version, locked.packages[""].version]).to.deep.equal([version, version]);
    expect(await read("ops/kubernetes/kustomization.yaml")).to.include(`newTag: ${version}\n`);
    const images = (await read("ops/guides/operator.md")).match(/\/waybill:[\w.-]+/g) ?? [];
    expect(images).not.to.deep.equal([]);
    expect(new Set(images)).to.deep.equal(new Set([`/waybill:${version}`]));
  });
});
