import { expect } from "chai";
import fc from "fast-check";
import { decodeContent } from "../../src/content/encode-content.ts";
import { runsOf } from "../support/property-runs.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

describe("The API, given arbitrary input", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  const expectSoundAnswer = async (body: string, headers: Record<string, string> = {}): Promise<void> => {
    const before = (await api.log.state()).lastSequence;
    const answered = await api.ask("POST", "/api/jobs", { body, headers });
    const isProblem = answered.headers.get("Content-Type") === "application/problem+json";
    const stored = (await api.log.state()).lastSequence - before;
    const sound =
      answered.status === 201
        ? stored === 1 && !isProblem
        : answered.status >= 400 && answered.status < 500 && stored === 0 && isProblem;
    expect(sound, `${answered.status} ${JSON.stringify(answered.body)}, ${stored} stored`).to.equal(true);
  };

  it("gets a job or a problem for any JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), (body) => expectSoundAnswer(body)),
      { numRuns: runsOf(200) },
    );
  });

  it("gets a job or a problem for a mailing with any values", async () => {
    const fields = ["type", "subject", "body", "html", "text", "from", "replyTo", "headers", "name", "metadata"];
    const others = ["priority", "scheduledAt", "notAfter", "maxAttempts", "retryDelay", "onUnknown", "recipients", "x"];
    const change = fc.dictionary(fc.constantFrom(...fields, ...others), fc.jsonValue(), { maxKeys: 3 });
    const toBody = (changed: object): string => JSON.stringify({ ...mailing, ...changed });
    await fc.assert(
      fc.asyncProperty(change, (changed) => expectSoundAnswer(toBody(changed))),
      { numRuns: runsOf(300) },
    );
  });

  it("gets a job or a problem for a mailing with any text, and no line of a mail's head can be smuggled in", async () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    const words = fc.record({
      subject: text,
      name: text,
      from: text,
      replyTo: text,
      headers: fc.dictionary(text, text, { maxKeys: 2 }),
      recipients: fc.array(text, { minLength: 1, maxLength: 2 }),
    });
    const from = api.stored.length;
    await fc.assert(
      fc.asyncProperty(
        words.chain((all) => fc.subarray(Object.keys(all)).map((keys) => keys.map((key) => [key, all[key as "name"]]))),
        (some) => expectSoundAnswer(JSON.stringify({ ...mailing, ...Object.fromEntries(some) })),
      ),
      { numRuns: runsOf(300) },
    );
    const accepted = api.stored.slice(from).map(decodeContent);
    expect(accepted).not.to.deep.equal([]);
    for (const { subject, name, replyTo, from: sender, headers, recipients } of accepted) {
      const head = [subject, name ?? "", sender ?? "", replyTo ?? "", ...Object.entries(headers).flat()];
      for (const text of [...head, ...recipients.map((recipient) => recipient?.email ?? "")])
        expect(text).not.to.match(/\p{Cc}/u);
    }
  });

  it("gets a problem for any bytes that are no JSON", async () => {
    const bytes = fc.string({ unit: "binary", maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(bytes, (body) => expectSoundAnswer(body)),
      { numRuns: runsOf(200) },
    );
  });

  it("gets an answer below 500 for any query and any id", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 20 }).map(encodeURIComponent);
    await fc.assert(
      fc.asyncProperty(text, text, text, async (id, name, value) => {
        const { status } = await api.ask("GET", `/api/jobs/${id || "x"}/logs?${name || "x"}=${value}`);
        expect(status).to.be.within(400, 499);
      }),
      { numRuns: runsOf(200) },
    );
  });
});
