import { expect } from "chai";
import { sampleVariables } from "../../../src/dashboard/ui/reading/sample-variables.ts";

describe("The variables with which a letter can be shown", () => {
  const of = (...texts: (string | undefined)[]) => JSON.parse(JSON.stringify(sampleVariables(texts)));

  it("are the names that its parts print, each with itself as the value", () => {
    expect(of("Hello {{ name }}", "{{name}} of {{- town | upcase }}", undefined)).to.deep.equal({
      name: "name",
      town: "town",
    });
  });

  it("are objects where a part of one is printed", () => {
    const expected = { order: { total: "total", from: { city: "city" } } };
    expect(of("{{ order.total }} {{ order.from.city }}")).to.deep.equal(expected);
    expect(of("{{ order }} {{ order.total }}")).to.deep.equal({ order: { total: "total" } });
    expect(of("{{ order.total }} {{ order }}")).to.deep.equal({ order: { total: "total" } });
  });

  it("are not what the service gives itself, nor what is only text", () => {
    expect(of('{{ email }} {{ unsubscribeUrl }} {{ "quoted" }} { name } {% if name %}')).to.deep.equal({});
  });

  it("may have the name of anything", () => {
    expect(Object.keys(sampleVariables(["{{ __proto__.taken }} {{ constructor }}"]))).to.deep.equal([
      "__proto__",
      "constructor",
    ]);
    expect("taken" in {}).to.equal(false);
  });
});
