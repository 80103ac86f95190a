import { expect } from "chai";
import type { ContentRecipient, JobContent } from "../../src/content/content-store.ts";
import { emailSend } from "../../src/job-kinds/email/email-send.ts";
import type { JobKind } from "../../src/job-kinds/job-kind.ts";
import { createAddressSet } from "../../src/mailings/address-set.ts";
import { createCounting, gatherParts } from "../../src/mailings/gather-parts.ts";

const letter: JobContent = {
  name: null,
  metadata: {},
  subject: "Hello {{ name }}",
  html: null,
  text: "Dear {{ name }}",
  from: null,
  replyTo: null,
  headers: {},
  recipients: [],
  template: "liquid",
  mailingId: "mailing",
};

describe("the recipients of a part", () => {
  const gatheredOf = async (lines: readonly ContentRecipient[], own: Partial<JobContent> = {}) => {
    let checks = 0;
    const checkContent: JobKind["checkContent"] = async (...asked) => {
      checks += 1;
      return (await emailSend.checkContent?.(...asked)) ?? [];
    };
    const counting = createCounting();
    const parts: (readonly string[])[] = [];
    const { take, end } = gatherParts({
      letter: { ...letter, ...own },
      kind: { ...emailSend, checkContent },
      maxBytes: 1_000_000,
      mostOfPart: () => 1000,
      addresses: createAddressSet("mailing"),
      counting,
      seal: async ({ recipients }) => {
        parts.push(recipients.map((one) => `${one?.email} ${one?.name}`));
      },
    });
    for (const [index, line] of lines.entries()) await take(index + 1, line);
    await end();
    return { checks, parts, counts: counting.counts() };
  };
  const ada = (name?: string): ContentRecipient => ({ email: "ada@example.com", ...(name !== undefined && { name }) });

  it("are checked together, also where each stands in the file twice in a row", async () => {
    const lines = Array.from({ length: 2000 }, (_, line) => ({
      email: `person${Math.floor(line / 2)}@example.com`,
      name: "Ada",
    }));
    const { checks, counts, parts } = await gatheredOf(lines);
    expect(counts).to.deep.equal({ lines: 2000, added: 1000, duplicates: 1000, faulty: 0, faults: [] });
    expect(parts.map(({ length }) => length)).to.deep.equal([1000]);
    expect(checks).to.be.lessThan(5);
  });

  it("keep the process for others, though the letter does too much for each of them", async () => {
    const much = "{% for i in (1..1000) %}{% for j in (1..1000) %}{{ name | upcase }}{% endfor %}{% endfor %}";
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    const lines = Array.from({ length: 60 }, (_, line) => ({ email: `person${line}@example.com`, name: "Ada" }));
    const { checks, counts } = await gatheredOf(lines, { text: much });
    clearInterval(ticking);
    expect(turns).to.be.greaterThan(20);
    expect(checks).to.equal(25);
    expect(counts).to.include({ lines: 60, faulty: 25, added: 35 });
    expect(counts.faults[0]?.message).to.include("it does too much");
  }).timeout(30_000);

  it("are those of the first line with an address for which the letter can be filled in", async () => {
    const { counts, parts } = await gatheredOf([ada(), ada("Ada"), ada(), { email: "bob@example.com", name: "Bob" }]);
    expect(counts).to.include({ added: 2, duplicates: 1, faulty: 1 });
    expect(counts.faults.map(({ line }) => line)).to.deep.equal([1]);
    expect(parts.flat().sort()).to.deep.equal(["ada@example.com Ada", "bob@example.com Bob"]);
    const none = await gatheredOf([ada(), ada(), ada()]);
    expect(none.counts).to.include({ added: 0, duplicates: 0, faulty: 3 });
    expect(none.parts).to.deep.equal([]);
  });
});
