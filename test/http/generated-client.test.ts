import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { decodeContent } from "../../src/content/encode-content.ts";
import { documentOfAll, type RunningApi, startApi } from "../support/running-api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** What an application developer writes against the types that a generator made of the document. */
const program = `
import type { paths } from "./api.js";
declare const process: { readonly argv: readonly string[] };

type Create = paths["/api/jobs"]["post"];
type Body = Create["requestBody"]["content"]["application/json"];
type Created = Create["responses"][201]["content"]["application/json"];
type Job = paths["/api/jobs/{jobId}"]["get"]["responses"][200]["content"]["application/json"];
type Page = paths["/api/events"]["get"]["responses"][200]["content"]["application/json"];

const url = String(process.argv[2]);
const mailing: Body = {
  type: "email.send",
  subject: "Invoice {{ number }}",
  body: "Hello {{ name }}",
  headers: { "X-Campaign": "11" },
  metadata: { campaign: "november" },
  recipients: [{ email: "ada@example.com", variables: { name: "Ada", number: 7, lines: [{ text: "Tea", price: 2.5 }] } }],
};
const webhook: Body = {
  type: "webhook.deliver",
  payload: { event: "order.paid", data: { order: 17, items: ["tea"] } },
  recipients: [{ url: "https://receiver.example.com/hook", variables: { shop: "north" } }],
};

async function create(body: Body): Promise<Created> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url + "/api/jobs", { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(await answer.text());
  return (await answer.json()) as Created;
}

for (const body of [mailing, webhook]) {
  const { jobId } = await create(body);
  const job = (await (await fetch(url + "/api/jobs/" + jobId)).json()) as Job;
  const campaign: string | undefined = job.metadata["campaign"];
  console.log(job.status, job.progress.total, campaign ?? "none");
}
const page = (await (await fetch(url + "/api/events")).json()) as Page;
for (const event of page.data) {
  if (event.type === "JobCreated") console.log(event.type, event.data.total);
}
export {};
`;

describe("A client in TypeScript whose types are generated from the OpenAPI document", function () {
  this.timeout(120_000);

  let api: RunningApi;
  let folder: string;

  before(async () => {
    [api, folder] = await Promise.all([startApi(), temporaryFolder()]);
  });
  after(async () => {
    await api.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("compiles with variables, metadata, headers and payload, and is served", async () => {
    const document = documentOfAll() as unknown as OpenAPI3;
    await writeFile(join(folder, "api.ts"), astToString(await openapiTS(document)));
    await writeFile(join(folder, "client.ts"), program);
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const target = ["--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom"];
    const compiled = await run(process.execPath, [tsc, ...strict, ...target, "client.ts"], { cwd: folder }).catch(
      (failure: { readonly stdout: string }) => failure,
    );
    expect(compiled.stdout).to.equal("");
    const { stdout } = await run(process.execPath, [join(folder, "client.js"), api.url]);
    expect(stdout.trim().split("\n")).to.deep.equal([
      "queued 1 november",
      "queued 1 none",
      "JobCreated 1",
      "JobCreated 1",
    ]);
    const [mailing] = api.stored.map(decodeContent);
    expect(mailing?.recipients[0]).to.deep.include({
      variables: { name: "Ada", number: 7, lines: [{ text: "Tea", price: 2.5 }] },
    });
  });
});
