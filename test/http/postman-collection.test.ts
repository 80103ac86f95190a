import { expect } from "chai";
import type { OpenApi } from "../support/answers-match.ts";
import { documentOfAll, type RunningApi, startApi } from "../support/running-api.ts";

type Url = {
  readonly raw: string;
  readonly path: readonly string[];
  readonly variable?: readonly { key: string; value: string }[];
};
type Item = {
  readonly name: string;
  readonly request: { readonly method: string; readonly url: Url; readonly body?: { readonly raw: string } };
};
type Collection = {
  readonly info: { readonly schema: string };
  readonly item: readonly { readonly name: string; readonly item: readonly Item[] }[];
};

describe("The collection for Postman", () => {
  let api: RunningApi;
  let document: OpenApi;
  let collection: Collection;

  before(async () => {
    api = await startApi();
    [document, collection] = await Promise.all([
      fetch(`${api.url}/openapi.json`).then(async (answer) => (await answer.json()) as OpenApi),
      fetch(`${api.url}/postman.json`).then(async (answer) => (await answer.json()) as Collection),
    ]);
  });
  after(() => api.close());

  const items = (): readonly Item[] => collection.item.flatMap(({ item }) => item);

  it("has a request for each operation of the document, and no other", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${path}`),
    );
    const asked = items().map(({ name, request: { method, url } }) => {
      const path = `/${url.path.map((step) => step.replace(/^:(\w+)$/, "{$1}")).join("/")}`;
      return `${name}: ${method} ${path}`;
    });
    expect(asked.sort()).to.deep.equal(described.sort());
    expect(asked.length).to.be.above(90);
  });

  it("is one of version 2.1, whose requests have the examples of the document", async () => {
    expect(collection.info.schema).to.match(/v2\.1\.0\/collection\.json$/);
    const of = (name: string) => items().find((item) => item.name === name)?.request;
    expect(of("readRecipientLedger")?.url.raw).to.equal("{{url}}/api/recipients?email=ada%40example.com");
    expect(of("readJob")?.url.variable?.map(({ key }) => key)).to.deep.equal(["jobId"]);
    const body = of("createJob")?.body?.raw ?? "";
    expect((await api.ask("POST", "/api/jobs", { body: JSON.parse(body) })).status).to.equal(201);
    expect(documentOfAll().paths).to.include.keys("/postman.json");
  });
});
