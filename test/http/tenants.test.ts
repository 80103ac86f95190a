import { expect } from "chai";
import { type Scope, scopes } from "../../src/access/key-ring.ts";
import { openAccess, type TestAccess } from "../support/access.ts";
import { eventually } from "../support/eventually.ts";
import { bearer, storedKey } from "../support/keys.ts";
import { startMailServer, type TestMailServer } from "../support/mail-server.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { allRoutes, type KnownRoute } from "../support/routes.ts";
import { mailing } from "../support/running-api.ts";
import { freshDatabase, startNats, type TestDatabase, type TestNats } from "../support/services.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const routes = allRoutes();

/** Answered without a key, and all that is. */
const openPaths = ["/livez", "/readyz", "/openapi.json", "/asyncapi.json", "/postman.json"];
/** Answered to every client with the link, which is signed. */
const signedPaths = ["/unsubscribe/:token"];
/** For operators, who see all tenants. */
const operatorsPaths = [
  "/metrics",
  "/mailbox",
  "/mailbox/:id",
  "/api/admin/jobs/stats",
  "/api/v1/admin/jobs/stats",
  "/api/admin/events",
  "/api/v1/admin/events",
  "/api/admin/system",
  "/api/v1/admin/system",
  "/api/admin/projections",
  "/api/v1/admin/projections",
  "/api/admin/projections/:name/rebuild",
  "/api/v1/admin/projections/:name/rebuild",
  "/api/admin/bounces/unattributed",
  "/api/v1/admin/bounces/unattributed",
  "/api/admin/readiness/:domain",
  "/api/v1/admin/readiness/:domain",
  "/api/admin/throttles",
  "/api/v1/admin/throttles",
  "/api/admin/routes",
  "/api/v1/admin/routes",
  "/api/admin/routes/:name",
  "/api/v1/admin/routes/:name",
];

/** For keys with access to a tenant's data: the content of mails is not for every key that may read jobs. */
const responsiblePaths = [
  "/api/recipients/export",
  "/api/v1/recipients/export",
  "/api/recipients/erase",
  "/api/v1/recipients/erase",
];
/** For providers, which have a name and a password at most. */
const reportPaths = ["/bounces", "/bounces/ses", "/bounces/postmark", "/bounces/sendgrid"];
/** For every key, whatever its scopes. */
const anyKeyPaths = ["/api/me", "/api/v1/me"];
const adminPaths = [...operatorsPaths, ...responsiblePaths];

/** What a route does not answer without. */
const queries: Readonly<Record<string, string>> = { "GET /recipients": "?email=nobody@example.com" };

/** What a route takes that refuses everything else before it looks for a job. */
const bodies: Readonly<Record<string, unknown>> = {
  "POST /jobs": mailing,
  "PATCH /jobs/:jobId": { priority: "low" },
  "POST /mailings": { subject: mailing.subject, body: mailing.body },
  "POST /schedules": { name: "Weekly", cron: "0 9 * * mon", job: mailing },
  "PUT /schedules/:scheduleId": { name: "Weekly", cron: "0 9 * * mon", job: mailing },
  "PUT /templates/:name": { subject: mailing.subject, body: mailing.body },
  "POST /templates/:name/preview": {},
  "PUT /mailings/:mailingId/recipients": '"ada@example.com"\n',
  "POST /mailings/:mailingId/start": {},
  "POST /mailings/:mailingId/test": { to: ["ada@example.com"] },
  "POST /mailings/:mailingId/approve": { digest: "0".repeat(64) },
};

const inApi = (path: string): string => path.replace(/^\/api(?:\/v1)?/, "");
const nameOf = ({ method, path }: KnownRoute): string => `${method} ${path}`;
const bodyOf = ({ method, path }: KnownRoute): unknown =>
  method === "GET" ? undefined : (bodies[`${method} ${inApi(path)}`] ?? { reason: "a test" });

type Answered = { readonly status: number; readonly headers: Headers; readonly text: string };

describe("Two tenants", function () {
  this.timeout(120_000);

  let nats: TestNats;
  let database: TestDatabase;
  let mailServer: TestMailServer;
  let waybill: Waybill;
  let access: TestAccess;
  let acme: Record<string, string>;
  let shop: Record<string, string>;
  /** A key of a third tenant for each scope, which has no other. */
  let keyWith: Map<Scope, Record<string, string>>;
  let jobId: string;
  let reportId: string;
  let receiver: Receiver;
  let endpointId: string;
  let deliveryId: string;
  let mailingId: string;
  let scheduleId: string;

  before(async () => {
    [nats, database, mailServer, receiver] = await Promise.all([
      startNats(),
      freshDatabase(),
      startMailServer(),
      startReceiver(),
    ]);
    waybill = await startWaybill(
      { nats, mysqlUrl: database.url, smtpUrl: mailServer.url },
      { AUTH: "required", WORKER_CONCURRENCY: "2", WEBHOOK_ALLOW: "127.0.0.0/8" },
    );
    access = await openAccess(nats);
    const own = scopes.filter((scope) => scope !== "admin");
    acme = bearer((await storedKey(access.store, { tenant: "acme", scopes: own })).text);
    shop = bearer((await storedKey(access.store, { tenant: "shop", scopes: own })).text);
    keyWith = new Map();
    for (const scope of scopes) {
      keyWith.set(scope, bearer((await storedKey(access.store, { tenant: "walker", scopes: [scope] })).text));
    }
    mailServer.answerRecipient("nobody@example.com", { code: 550, text: "5.1.1 no such user" });
    const body = { ...mailing, subject: "Secret of Acme", recipients: ["nobody@example.com"] };
    await eventually(async () => expect((await ask("GET", "/api/jobs", shop)).status).to.equal(200));
    endpointId = JSON.parse((await ask("POST", "/api/webhook-endpoints", acme, { url: receiver.url })).text).id;
    jobId = JSON.parse((await ask("POST", "/api/jobs", acme, body)).text).jobId;
    await eventually(async () => expect((await ask("GET", "/api/dead-letters", acme)).text).to.include(jobId), 20_000);
    const report = { type: "report.export", payload: { of: "logs", format: "csv" } };
    reportId = JSON.parse((await ask("POST", "/api/jobs", acme, report)).text).jobId;
    await eventually(async () => expect((await ask("GET", `/api/jobs/${reportId}/result`, acme)).status).to.equal(200));
    const letter = { subject: "Secret of Acme", body: "Hello" };
    for (const name of ["welcome", "acme-only"]) await ask("PUT", `/api/templates/${name}`, acme, letter);
    mailingId = JSON.parse((await ask("POST", "/api/mailings", acme, letter)).text).mailingId;
    const yearly = { name: "Secret of Acme", cron: "0 9 1 1 *", job: body };
    scheduleId = JSON.parse((await ask("POST", "/api/schedules", acme, yearly)).text).id;
    // Its stream ends.
    await ask("POST", `/api/mailings/${mailingId}/cancel`, acme, {});
    deliveryId = await eventually(async () => {
      const { text } = await ask("GET", `/api/webhook-endpoints/${endpointId}/deliveries`, acme);
      // One of each job that has ended; the newest first.
      expect(JSON.parse(text).data).to.have.lengthOf.at.least(1);
      return JSON.parse(text).data.at(-1).id;
    });
  });
  after(async () => {
    await access.close();
    await waybill.stop();
    await mailServer.stop();
    await receiver.stop();
    await database.drop();
    await nats.cleanUp();
  });

  async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answered> {
    const isFile = typeof body === "string";
    const sent = body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) };
    const contentType = isFile ? "application/x-ndjson" : "application/json";
    const type: Record<string, string> = body === undefined ? {} : { "Content-Type": contentType };
    const response = await fetch(waybill.url + path, { method, headers: { ...type, ...headers }, ...sent });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The path with what is acme's in it. A part that is not known here needs an example of acme's own. */
  const pathOfAcme = ({ path }: KnownRoute): string =>
    path.replace(/:(\w+)/g, (_, part: string) => {
      if (part === "jobId") return path.endsWith("/result") ? reportId : jobId;
      if (part === "id" && path.includes("/dead-letters/")) return `${jobId}.1`;
      if (part === "id" && path.includes("/notifications/")) return `${jobId}.1`;
      if (part === "id" && path.includes("/webhook-endpoints/")) return endpointId;
      if (part === "deliveryId") return deliveryId;
      if (part === "mailingId") return mailingId;
      if (part === "scheduleId") return scheduleId;
      if (part === "name") return "acme-only";
      if (part === "version") return "1";
      if (part === "email") return "nobody@example.com";
      if (part === "recipient") return "0";
      throw new Error(`${path} names :${part}; make one of acme's in this test, and take it here.`);
    });
  const pathOfNobody = ({ path }: KnownRoute): string => path.replace(/:\w+/g, "00000000-0000-4000-8000-000000000000");
  const history = async (): Promise<string> => (await ask("GET", `/api/jobs/${jobId}/events`, acme)).text;

  const ofTenants = routes.filter(({ path }) => ![...openPaths, ...signedPaths, ...adminPaths].includes(path));

  it("are tried on every route there is", () => {
    expect(ofTenants.map(nameOf)).to.include.members(["GET /api/jobs/:jobId", "DELETE /api/v1/jobs/:jobId"]);
    expect(ofTenants.length).to.be.greaterThan(20);
  });

  /** A name in the path is the caller's own: what is put under it makes it, and changes nothing of another tenant's. */
  const making = ["PUT /templates/:name"];
  const isMaking = ({ method, path }: KnownRoute): boolean => making.includes(`${method} ${inApi(path)}`);

  it("may use the same name for different templates", async () => {
    const put = await ask("PUT", "/api/templates/welcome", shop, { subject: "Of the shop", body: "Hello" });
    expect(put.status).to.equal(201);
    expect((await ask("GET", "/api/templates/welcome", acme)).text).to.include("Secret of Acme");
    expect((await ask("GET", "/api/templates/welcome", shop)).text).not.to.include("Acme");
    expect((await ask("DELETE", "/api/templates/welcome", shop)).status).to.equal(200);
    const body = { template: "acme-only", recipients: mailing.recipients };
    expect((await ask("POST", "/api/jobs", shop, body)).text).to.include("expected the name of a stored template");
    expect((await ask("POST", "/api/jobs", acme, body)).status).to.equal(201);
  });

  for (const route of ofTenants.filter((one) => one.path.includes(":") && !isMaking(one))) {
    it(`do not see each other's jobs: ${nameOf(route)} is 404 for the other one`, async () => {
      const before = await history();
      const { status, text } = await ask(route.method, pathOfAcme(route), shop, bodyOf(route));
      expect({ route: nameOf(route), status }, text).to.deep.equal({ route: nameOf(route), status: 404 });
      expect(text).not.to.match(/Acme|nobody@example\.com/);
      const nobodys = await ask(route.method, pathOfNobody(route), shop, bodyOf(route));
      expect(sameBut(text)).to.equal(sameBut(nobodys.text));
      expect(await history()).to.equal(before);
    });

    if (route.method === "GET") {
      it(`see their own: ${nameOf(route)}`, async () => {
        expect((await ask(route.method, pathOfAcme(route), acme)).status).to.equal(200);
      });
    }
  }

  for (const route of ofTenants.filter(({ path, method }) => !path.includes(":") && method === "GET")) {
    it(`do not see each other's jobs in ${nameOf(route)}`, async () => {
      const query = queries[`GET ${inApi(route.path)}`] ?? "";
      const { status, text } = await ask(route.method, route.path + query, shop);
      expect({ route: nameOf(route), status }, text).to.deep.equal({ route: nameOf(route), status: 200 });
      expect(text)
        .not.to.include(jobId)
        .and.not.to.match(/Acme|nobody@example\.com/);
    });
  }

  it("may use the same Idempotency-Key for different mailings", async () => {
    const key = { "Idempotency-Key": "order-17" };
    const ofShop = await ask("POST", "/api/jobs", { ...shop, ...key }, mailing);
    const ofAcme = await ask("POST", "/api/jobs", { ...acme, ...key }, { ...mailing, subject: "Another" });
    expect([ofShop.status, ofAcme.status]).to.deep.equal([201, 201]);
    const { jobId: id } = JSON.parse(ofShop.text);
    expect(id).not.to.equal(JSON.parse(ofAcme.text).jobId);
    expect((await ask("GET", `/api/jobs/${id}`, acme)).status).to.equal(404);
  });

  it("are named by the events, and so is the key", async () => {
    const [created] = JSON.parse(await history());
    expect(created).to.deep.include({ tenant: "acme", actor: `key:${idIn(acme)}` });
  });

  for (const route of routes.filter(({ path }) => ![...openPaths, ...signedPaths].includes(path))) {
    if (route.path.startsWith("/mailbox")) continue;

    it(`need a key for ${nameOf(route)}, and the scope that it says`, async () => {
      const nobodys = await ask(route.method, pathOfNobody(route), {}, bodyOf(route));
      expect(nobodys.status).to.equal(401);
      // Amazon SNS sends the password of a URL only to a service that asks for one in this way.
      const scheme = reportPaths.includes(inApi(route.path)) ? "Basic" : "Bearer";
      expect(nobodys.headers.get("WWW-Authenticate")).to.equal(`${scheme} realm="waybill"`);
      const needed: string[] = [];
      const refused = new Set<string>();
      for (const [scope, key] of keyWith) {
        const { status, headers, text } = await ask(route.method, pathOfNobody(route), key, bodyOf(route));
        if (status !== 403) needed.push(scope);
        else {
          refused.add(JSON.parse(text).scope);
          expect(headers.get("WWW-Authenticate")).to.match(/error="insufficient_scope", scope="[a-z:]+"$/);
        }
      }
      if (anyKeyPaths.includes(route.path)) {
        expect(needed).to.have.members([...keyWith.keys()]);
        return;
      }
      expect(needed).to.have.lengthOf(1);
      expect([...refused]).to.deep.equal(needed);
      expect(needed[0] === "admin").to.equal(adminPaths.includes(route.path));
    });
  }

  for (const path of openPaths) {
    it(`need no key for ${path}`, async () => {
      expect((await ask("GET", path, {})).status).to.equal(200);
      expect((await ask("GET", path, { Authorization: "Bearer nonsense" })).status).to.equal(200);
    });
  }
});

/** A problem without what differs from request to request. */
const sameBut = (text: string): string => text.replace(/"requestId":"[^"]*"/, "");

const idIn = ({ Authorization = "" }: Record<string, string>): string | undefined => Authorization.split("_")[1];
