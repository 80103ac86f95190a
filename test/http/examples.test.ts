import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { answerCheck, type OpenApi } from "../support/answers-match.ts";
import { eventually } from "../support/eventually.ts";
import { type Answered, documentOfAll, expectDescribed } from "../support/running-api.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

type Media = {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};
type Shown = { readonly operationId: string; readonly method: string; readonly path: string };
type Sent = Shown & { readonly type: string; readonly body: unknown };

const examplesOf = ({ example, examples = {} }: Media): readonly unknown[] =>
  example === undefined ? Object.values(examples).map(({ value }) => value) : [example];

describe("The examples of the API", function () {
  this.timeout(60_000);

  let document: OpenApi;

  before(() => {
    document = documentOfAll();
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );

  it("are there for every request, every answer in JSON and every problem, and are what the document says", () => {
    const check = answerCheck(document);
    for (const { method, path, operationId, requestBody, responses } of operations()) {
      for (const media of Object.values(requestBody?.content ?? {})) {
        expect(examplesOf(media), operationId).not.to.deep.equal([]);
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [type, media] of Object.entries(content).filter(([name]) => name.endsWith("json"))) {
          if (media.schema === undefined) continue;
          expect(examplesOf(media), operationId).not.to.deep.equal([]);
          // Some hundred schemas for the same form would be compiled; the next test looks at them.
          if (type === "application/problem+json") continue;
          const url = `http://localhost${path.replace(/\{\w+\}/g, "x")}`;
          const headers = new Headers({ "Content-Type": type });
          for (const body of examplesOf(media)) check(method, url, { status: Number(status), headers, body });
        }
      }
    }
  });

  it("show each code of a problem with its status", () => {
    const matches = ajvOf(document).compile({ $ref: "openapi#/components/schemas/Problem" });
    for (const { operationId, responses } of operations()) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [code, { value }] of Object.entries(
          (content["application/problem+json"] as Media)?.examples ?? {},
        )) {
          expect(value, operationId).to.include({ code, status: Number(status) });
          expect(matches(value), JSON.stringify({ value, errors: matches.errors })).to.equal(true);
        }
      }
    }
  });

  it("are there for every schema, and are valid", () => {
    const ajv = ajvOf(document);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const [example] = (schema["examples"] ?? []) as readonly unknown[];
      expect(example, name).not.to.equal(undefined);
      const isValid = ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, example);
      expect(isValid, `${name}: ${ajv.errorsText()} ${JSON.stringify(example)}`).to.equal(true);
    }
  });
});

function ajvOf(document: OpenApi): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, formats: formats() });
  ajv.addSchema({ $id: "openapi", components: renamed(document.components) as object });
  return ajv;
}

/** Those of requests are checked by the service that gets them. */
function formats() {
  const names = ["email", "mailbox", "mail-header", "file-name", "media-type", "content-id", "base64"];
  return {
    ...Object.fromEntries(names.map((name) => [name, true as const])),
    "date-time": /Z$/,
    uuid: /^[0-9a-f-]{36}$/,
  };
}

const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === "$ref" ? `openapi${inner}` : renamed(inner)]),
  );
};

/** What a service answers that has nothing to decide about, or no second key. */
const refusals: Readonly<Record<string, string>> = {
  approveMailing: "mailing-not-awaiting-approval",
  rejectMailing: "mailing-not-awaiting-approval",
  retryMailing: "mailing-has-not-ended",
};

describe("An example of a request, sent to a service", function () {
  this.timeout(120_000);

  let stage: Stage;
  let waybill: Waybill;

  before(async () => {
    stage = await setStage();
    waybill = await startWaybill(stage.surroundings, { PUBLIC_URL: "https://waybill.example.org" });
  });
  after(async () => {
    await waybill.stop();
    await stage.cleanUp();
  });

  const send = async (method: string, path: string, body?: unknown, type = "application/json"): Promise<Answered> => {
    const isText = typeof body === "string";
    const url = waybill.url + path;
    const response = await fetch(url, {
      method,
      ...(body === undefined ? {} : { headers: { "Content-Type": type }, body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answered = { status: response.status, headers: response.headers, body: text === "" ? "" : JSON.parse(text) };
    expectDescribed(method, url, answered);
    return answered;
  };
  const job = async (more: object = {}): Promise<string> => {
    const asked = { subject: "News", text: "Hi", recipients: ["bob@example.com"], ...more };
    return (await send("POST", "/api/jobs", asked)).body.jobId;
  };
  const later = { scheduledAt: "2037-01-01T08:00:00.000Z" };
  const failedJob = async (): Promise<string> => {
    const jobId = await job({ notAfter: "2026-01-01T00:00:00.000Z" });
    await eventually(async () => expect((await send("GET", `/api/jobs/${jobId}`)).body.status).to.equal("failed"));
    return jobId;
  };
  const deadLetter = async (): Promise<string> => {
    const jobId = await failedJob();
    return await eventually(async () => {
      const { body } = await send("GET", "/api/dead-letters");
      const found = body.data.find((letter: { jobId: string }) => letter.jobId === jobId);
      if (found === undefined) throw new Error("The dead letter is not there yet.");
      return found.id;
    });
  };
  const draft = async (): Promise<string> => {
    const { body } = await send("POST", "/api/mailings", { subject: "News", text: "Hi", undoFor: 3600 });
    const path = `/api/mailings/${body.mailingId}/recipients`;
    await send("PUT", path, '"carol@example.com"\n', "application/x-ndjson");
    return body.mailingId;
  };
  const started = async (...decisions: readonly string[]): Promise<string> => {
    const mailingId = await draft();
    await send("POST", `/api/mailings/${mailingId}/start`, later);
    for (const decision of decisions) await send("POST", `/api/mailings/${mailingId}/${decision}`);
    return mailingId;
  };
  const schedule = async (paused = false): Promise<string> => {
    const one = { name: "N", cron: "0 9 * * *", job: { subject: "S", text: "T", recipients: ["dora@example.com"] } };
    const { id } = (await send("POST", "/api/schedules", one)).body;
    if (paused) await send("POST", `/api/schedules/${id}/pause`);
    return id;
  };
  const ended = async (): Promise<string> => {
    const jobId = await job({ recipients: ["eve@example.com"] });
    await eventually(async () => expect((await send("GET", `/api/jobs/${jobId}`)).body.completedAt).to.be.a("string"));
    return jobId;
  };

  /** What an operation needs to be there; the id of that takes the place in its path. */
  const prepared: Readonly<Record<string, () => Promise<string>>> = {
    retryJob: failedJob,
    eraseJobContent: ended,
    resumeJob: async () => {
      const jobId = await job(later);
      await send("POST", `/api/jobs/${jobId}/pause`);
      return jobId;
    },
    requeueDeadLetter: deadLetter,
    ignoreDeadLetter: deadLetter,
    undoMailing: () => started(),
    pauseMailing: () => started(),
    resumeMailing: () => started("pause"),
    resumeSchedule: () => schedule(true),
    putTemplate: async () => "welcome",
    previewTemplate: async () => "welcome",
    putMailRoute: async () => "bulk",
    changeMailRoute: async () => "bulk",
  };
  const placeFor = async ({ operationId, path }: Shown): Promise<string> => {
    const [, name] = /\{(\w+)\}/.exec(path) ?? [];
    const usual: Readonly<Record<string, () => Promise<string>>> = {
      jobId: () => job(later),
      mailingId: draft,
      scheduleId: schedule,
    };
    const make = prepared[operationId] ?? usual[name ?? ""];
    return name === undefined || make === undefined ? path : path.replace(`{${name}}`, await make());
  };

  it("is taken, whichever it is, and answered as the document says", async () => {
    const document = documentOfAll();
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, requestBody }]) =>
        Object.entries(requestBody?.content ?? {}).flatMap(([type, media]) =>
          examplesOf(media).map((body): Sent => ({ operationId, method: method.toUpperCase(), path, type, body })),
        ),
      ),
    );
    // Names what others use, and what must not be in use.
    const first = (one: Sent): number => ["eraseRecipient", "putTemplate"].indexOf(one.operationId);
    const sorted = [...all].sort((one, other) => first(other) - first(one));
    expect(new Set(sorted.map(({ operationId }) => operationId)).size).to.be.above(35);
    for (const sent of sorted) {
      const { operationId, method, type, body } = sent;
      const { status, body: answer } = await send(method, await placeFor(sent), body, type);
      const expected = refusals[operationId] ?? "taken";
      const said = status < 300 ? "taken" : answer.code;
      expect(said, `${operationId}: ${JSON.stringify({ sent: body, answer })}`).to.equal(expected);
    }
  });
});
