import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { problemCodes } from "../../src/schemas/problem.ts";
import { type OpenApi, type Operation, unrouted } from "../support/answers-match.ts";
import { allRoutes } from "../support/routes.ts";
import { allParts, documentOfAll, type RunningApi, startApi } from "../support/running-api.ts";

/** What only workers are refused. */
const ofWorkers = ["turn-not-open", "too-many-takeovers", "lease-lost"];

describe("The OpenAPI document", () => {
  let api: RunningApi;
  let document: OpenApi;

  before(async () => {
    api = await startApi(allParts);
    document = documentOfAll();
  });
  after(() => api.close());

  const operations = (): readonly Operation[] => Object.values(document.paths).flatMap((path) => Object.values(path));

  it("is the one that a service sends", async () => {
    const { body } = await api.ask("GET", "/openapi.json");
    expect(body).to.deep.equal(document);
  });

  it("is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(
      // Any document is a record, but interfaces have no index signature.
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
  });

  it("has only schemas that keep the meta-schema, which the service itself does not check", () => {
    const ofRequests = operations().flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
    expect(ofRequests).not.to.deep.equal([]);
    const ajv = new Ajv2020({ strict: false });
    for (const schema of [...Object.values(document.components.schemas), ...ofRequests.map((body) => body.schema)]) {
      const isValid = ajv.validateSchema(schema ?? {});
      expect(isValid, JSON.stringify({ schema, errors: ajv.errors })).to.equal(true);
    }
  });

  it("describes every route that the router has, and no other", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routed = allRoutes(allParts).map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    expect(routed).to.include("POST /api/v1/jobs");
    const withoutVersion = routed.map((route) => route.replace(" /api/v1/", " /api/"));
    expect(described.sort()).to.deep.equal([...new Set(withoutVersion)].sort());
  });

  it("names every operation once", () => {
    const names = operations().map(({ operationId }) => operationId);
    expect(names).to.deep.equal([...new Set(names)]);
  });

  it("lists every code of a problem, each where it may come, with its status", () => {
    const listed = new Map<string, Set<string>>();
    for (const [status, { content }] of operations().flatMap((operation) => Object.entries(operation.responses))) {
      const schema = content?.["application/problem+json"]?.schema as { properties?: { code: { enum: string[] } } };
      for (const code of schema?.properties?.code.enum ?? []) {
        listed.set(code, new Set([...(listed.get(code) ?? []), status]));
      }
    }
    const known = problemCodes.filter(({ code }) => ![...unrouted, ...ofWorkers].includes(code));
    expect(Object.fromEntries([...listed].map(([code, statuses]) => [code, [...statuses].join()]))).to.deep.equal(
      Object.fromEntries(known.map(({ code, status }) => [code, String(status)])),
    );
    expect(document.components.schemas["ProblemCode"]?.["enum"]).to.have.members(problemCodes.map(({ code }) => code));
  });

  it("refers to no schema that it does not have", () => {
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) =>
      String(name),
    );
    expect(document.components.schemas).to.include.all.keys(...new Set(referred));
  });

  it("says of every object what may be in it: generated types have no object that must be empty", () => {
    const unsaid: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      const { type, properties, additionalProperties } = value as Readonly<Record<string, unknown>>;
      const isOpen = additionalProperties !== undefined && additionalProperties !== false;
      if (type === "object" && properties === undefined && !isOpen) unsaid.push(at);
      for (const [name, inner] of Object.entries(value)) look(inner, `${at}/${name}`);
    };
    look(document.components.schemas, "");
    look(document.paths, "/paths");
    expect(unsaid).to.deep.equal([]);
  });

  it("is handed out without a key, and again only when it has changed", async () => {
    const first = await fetch(`${api.url}/openapi.json`);
    expect(first.status).to.equal(200);
    expect(first.headers.get("Content-Type")).to.equal("application/json");
    const headers = { "If-None-Match": first.headers.get("ETag") ?? "" };
    await first.arrayBuffer();
    expect((await fetch(`${api.url}/openapi.json`, { headers })).status).to.equal(304);
  });

  it("takes what the API takes: the body of a mailing, a webhook and a report", () => {
    const requests = ["EmailSendRequest", "WebhookDeliverRequest", "ReportExportRequest"];
    expect(document.components.schemas).to.include.all.keys(...requests);
    expect(document.components.schemas["EmailSendRequest"]).to.deep.include({
      required: ["subject", "recipients"],
      additionalProperties: false,
    });
  });
});
