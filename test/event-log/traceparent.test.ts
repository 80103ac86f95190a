import { expect } from "chai";
import { newTraceparent, readTraceparent, traceIdOf } from "../../src/event-log/traceparent.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

describe("A traceparent from outside", () => {
  it("goes on as it came", () => {
    expect(readTraceparent(`00-${trace}-${parent}-01`)).to.equal(`00-${trace}-${parent}-01`);
  });

  it("of a later version goes on in the one that is known here", () => {
    expect(readTraceparent(`cc-${trace}-${parent}-01`)).to.equal(`00-${trace}-${parent}-01`);
    expect(readTraceparent(`cc-${trace}-${parent}-01-what-comes-later`)).to.equal(`00-${trace}-${parent}-01`);
  });

  const broken: Readonly<Record<string, unknown>> = {
    "not there": undefined,
    empty: "",
    "sent twice": [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`],
    "of the version that is none": `ff-${trace}-${parent}-01`,
    "of the known version with more in it": `00-${trace}-${parent}-01-more`,
    "of a trace that is none": `00-${"0".repeat(32)}-${parent}-01`,
    "of a step that is none": `00-${trace}-${"0".repeat(16)}-01`,
    "in capitals": `00-${trace.toUpperCase()}-${parent}-01`,
    "too short": `00-${trace.slice(1)}-${parent}-01`,
    "with a line of its own": `00-${trace}-${parent}-01\r\nX-Evil: 1`,
  };
  for (const [what, given] of Object.entries(broken)) {
    it(`is none where it is ${what}`, () => {
      expect(readTraceparent(given)).to.equal(null);
    });
  }

  it("has a trace that log lines can name", () => {
    expect(traceIdOf(`00-${trace}-${parent}-01`)).to.equal(trace);
    expect(traceIdOf(null)).to.equal(undefined);
  });
});

describe("A trace that begins here", () => {
  it("is one that others can go on with, and each is another", () => {
    const [one, other] = [newTraceparent(), newTraceparent()];
    expect(readTraceparent(one)).to.equal(one);
    expect(traceIdOf(one)).to.not.equal(traceIdOf(other));
  });
});
