import { expect } from "chai";
import { json } from "../../src/http/server/answer.ts";
import { createBodyBudget } from "../../src/http/server/body-budget.ts";
import { route } from "../../src/http/server/route.ts";
import { createRouting } from "../../src/http/server/routing.ts";

const routeAt = (path: string, method: "GET" | "POST" = "GET") =>
  route({
    method,
    path,
    describes: { operation: "test", summary: "A test.", answers: { 200: { is: "Nothing." } } },
    scope: "open",
    handle: async () => json(null),
  });
const access = { admit: async () => ({ outcome: "key-missing" }) as const, isStillAdmitted: () => false };
const nobody = { access, bodies: createBodyBudget(0) };

describe("Routing", () => {
  const routing = createRouting();
  routing.mount("/api", routeAt("/jobs"), nobody);
  routing.mount("/api", routeAt("/jobs/:jobId", "POST"), nobody);
  routing.mount("/api/v1", routeAt("/jobs/:jobId"), nobody);
  routing.mount("", routeAt("/"), nobody);
  routing.mount("", routeAt("/docs/:name"), nobody);

  for (const [path, methods] of [
    ["/api/jobs", ["HEAD", "GET"]],
    ["/api/jobs/", ["HEAD", "GET"]],
    ["/api/jobs/1", ["POST"]],
    ["/api/v1/jobs/1", ["HEAD", "GET"]],
    ["/", ["HEAD", "GET"]],
    ["/docs/page.html", ["HEAD", "GET"]],
    ["/docs", []],
    ["/api", []],
    ["/api/", []],
    ["/api/v1", []],
    ["/api/v1/jobs", []],
    ["/api/v2/jobs", []],
    ["/apis/jobs", []],
    ["", []],
  ] as const) {
    it(`finds ${methods.join(", ") || "nothing"} at ${JSON.stringify(path)}`, () => {
      expect(routing.methodsAt(path)).to.deep.equal(methods);
    });
  }

  it("takes no route that it would never find", () => {
    expect(() => routing.mount("/api", routeAt("/:kind/jobs"), nobody)).to.throw("/api/:kind/jobs");
  });
});
