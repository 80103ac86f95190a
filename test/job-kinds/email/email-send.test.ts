import { expect } from "chai";
import { draftJob } from "../../../src/intake/draft-job.ts";
import { emailSend } from "../../../src/job-kinds/email/email-send.ts";
import type { JobRequest } from "../../../src/schemas/job-request.ts";
import { now } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";

const base = { type: "email.send", subject: "Hello", body: "Hello" };
const rules = { senders: null, publicUrl: null, routesFor: () => [], allowed: [] } as unknown as Parameters<
  NonNullable<typeof emailSend.check>
>[1];

describe("a job that mails", () => {
  it("mails an address once, however its letters and its domain are written", () => {
    const recipients = ["Ada@büro.example", "ada@xn--bro-hoa.example", "ada@bu\u0308ro.example", "bob@büro.example"];
    const body = { ...base, recipients } as JobRequest;
    const draft = draftJob({ job: newJob(), isRepeatable: false, body, request: body, maxAttempts: 1, at: now });
    expect(draft.decoded.recipients).to.deep.equal([{ email: "Ada@büro.example" }, { email: "bob@büro.example" }]);
    expect(draft.settings).to.include({ total: 2, duplicates: 2 });
  });

  it("is refused where it names another mail by what is no id", () => {
    const headers = { References: "<17@büro.example>" };
    const checked = emailSend.check?.({ ...base, headers } as JobRequest, rules);
    expect(checked?.valid === false && checked.faults.map(({ pointer }) => pointer)).to.deep.equal([
      "/headers/References",
    ]);
  });
});
