import { expect } from "chai";
import fc from "fast-check";
import {
  parseTemplate,
  TemplateFault,
  type TemplateKind,
  type Variables,
} from "../../../../src/job-kinds/email/templates/template.ts";
import { runsOf } from "../../../support/property-runs.ts";

const fill = (source: string, variables: Variables = {}, kind: TemplateKind = "html"): string =>
  parseTemplate(source, kind).render(variables);

function faultOf(source: string, variables: Variables = {}): TemplateFault {
  try {
    fill(source, variables);
  } catch (failure) {
    if (failure instanceof TemplateFault) return failure;
    throw failure;
  }
  throw new Error(`${source} was filled in`);
}

const cpuMs = (step: () => unknown): number => {
  const { user, system } = process.cpuUsage();
  step();
  const after = process.cpuUsage({ user, system });
  return (after.user + after.system) / 1000;
};

const markup = "<script>alert('x')</script> & \"more\"";

const hostile: Readonly<Record<string, readonly [source: string, variables?: Variables]>> = {
  "loops a thousand million times": ["{% for i in (1..1000000000) %}{% endfor %}"],
  "loops as often as a variable says": ["{% for i in (1..n) %}x{% endfor %}", { n: 1e12 }],
  "loops in loops, over nothing": ["{% for i in (1..99999) %}{% for j in (1..99999) %}{% endfor %}{% endfor %}"],
  "writes without end": [`{% for i in (1..99999) %}${"x".repeat(200_000)}{% endfor %}`],
  "captures without end": [
    `{% capture a %}{% for i in (1..2000) %}${"x".repeat(200_000)}{% endfor %}{% endcapture %}{% if a contains "y" %}{% endif %}`,
  ],
  "doubles a text": [`{% assign a = "xxxx" %}${"{% assign a = a | append: a %}".repeat(40)}{{ a }}`],
  "doubles a list": [`{% assign a = "x,x" | split: "," %}${"{% assign a = a | concat: a %}".repeat(40)}{{ a }}`],
  "replaces into the large": [
    "{% for i in (1..99) %}{% assign a = a | replace: 'x', a %}{% endfor %}",
    { a: "xxxxxxxx" },
  ],
  "counts where adding one changes nothing": [
    "{% for i in (9007199254740992..n) %}{% endfor %}",
    { n: 9007199254740994 },
  ],
  "hides such a range in a path": ["{{ l | where: 'a[(9007199254740992..9007199254740994)]' }}", { l: [{ a: 1 }] }],
  "lists the keys of an object again and again": [
    "{% for i in (1..99999) %}{% assign n = o.size %}{% endfor %}",
    { o: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])) },
  ],
  "compares lists again and again": [
    "{% for i in (1..99999) %}{% case a %}{% when b %}{% endcase %}{% endfor %}",
    { a: [Array(50_000).fill(1)], b: [Array(50_000).fill(1)] },
  ],
  "looks for one text in another at every place": [
    "{% for i in (1..99) %}{% assign b = a | remove: c %}{% endfor %}",
    { a: "a".repeat(400_000), c: `b${"a".repeat(1000)}` },
  ],
  "takes a path apart for each element": [
    "{{ l | sort: p }}",
    { l: Array(5000).fill({ a: 1 }), p: "b.".repeat(50_000) },
  ],
  "writes a list of large lists": [
    `{% assign l = a %}${"{% assign l = l | concat: l %}".repeat(12)}{{ l | join }}`,
    { a: [Array(50_000).fill(1)] },
  ],
  "asks for ten thousand dates in one": ["{{ 'now' | date: f }}", { f: "%c".repeat(10_000) }],
  "tries a thousand branches in a loop": [
    `{% for i in (1..99999) %}{% if false %}${"{% elsif false %}".repeat(900)}{% endif %}{% endfor %}`,
  ],
  "asks a hundred times for forty thousand filters": [
    `{% for i in (1..100) %}{{ 1${"|size".repeat(40_000)} }}{% endfor %}`,
  ],
  "nests brackets in a path": [`{{ a${"[a".repeat(5000)} }}`, { a: 1 }],
  "asks for a wide date": ["{{ 'now' | date: '%99999999d' }}"],
  "nests conditions": [`${"{% if a %}".repeat(1900)}`, { a: 1 }],
  "nests brackets": [`{{ ${"(".repeat(50_000)} }}`],
  "has a tag at every second place": ["{{a}}".repeat(50_000), { a: 1 }],
  "opens tags, and closes none of them": [`${"{{a".repeat(2000)}${"x".repeat(249_000)}`],
  "is nothing but openings": ["{{".repeat(100_000)],
  "is longer than it may be": [`{{ a }}${"x".repeat(300_000)}`, { a: 1 }],
};

describe("a template", () => {
  it("has words from the variables in the places that it left open", () => {
    expect(fill("Hello {{ name }}, {{ order.id }}", { name: "Ada", order: { id: 7 } })).to.equal("Hello Ada, 7");
  });

  it("may decide, repeat, and use filters", () => {
    const source =
      '{% if items.size > 1 %}{% for i in items %}{{ i | upcase }};{% endfor %}{% endif %}{{ who | default: "you" }}';
    expect(fill(source, { items: ["a", "b"] })).to.equal("A;B;you");
  });

  it("escapes what it takes into HTML, and not what it takes into a subject or a text", () => {
    expect(fill("{{ a }}", { a: markup })).to.equal(
      "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;more&#34;",
    );
    expect(fill("{{ a }}", { a: markup }, "text")).to.equal(markup);
  });

  it("escapes once, also where it says so itself", () => {
    expect(fill("{{ a | escape }}{{ a | newline_to_br }}", { a: "<\n" })).to.equal("&lt;\n&lt;<br>\n");
  });

  it("escapes once what it keeps for later, and not the markup of its own around it", () => {
    const source = "{% capture b %}<b>{{ a }}</b>{% endcapture %}{{ b }}{% echo b %}{% cycle b %}{{ b | append: a }}";
    const once = "<b>O&#39;Brien &amp; Co</b>";
    const changed = "&lt;b&gt;O&amp;#39;Brien &amp;amp; Co&lt;/b&gt;O&#39;Brien &amp; Co";
    expect(fill(source, { a: "O'Brien & Co" })).to.equal(`${once}${once}${once}${changed}`);
    expect(fill("{% capture b %} <b>{{ a }}</b>\n {% endcapture %}{{ b | strip }}", { a: "&" })).to.equal(
      "<b>&amp;</b>",
    );
    expect(fill("{% capture b %}{{ a }}{% endcapture %}{{ b }}", { a: "O'Brien" }, "text")).to.equal("O'Brien");
  });

  it("takes HTML as it is where it asks for that", () => {
    expect(fill("{{ a | raw }}", { a: "<b>" })).to.equal("<b>");
  });

  describe("with dates", () => {
    const hosts = process.env["TZ"];
    afterEach(() => {
      if (hosts === undefined) delete process.env["TZ"];
      else process.env["TZ"] = hosts;
    });

    for (const zone of ["America/New_York", "Europe/Berlin", "Asia/Tokyo"]) {
      it(`says the same on a host in ${zone}`, () => {
        process.env["TZ"] = zone;
        const days = ["2026-11-21", "Nov 21, 2026", "11/21/2026", "2026-11-21T00:00:00.000Z", 1795219200];
        for (const at of days) expect(fill("{{ at | date: '%Y-%m-%d %H:%M' }}", { at })).to.equal("2026-11-21 00:00");
        const times = ["2026-03-30T02:30:00", "2026-03-30 02:30", "2026-03-30T04:30:00+02:00", "2026-03-30T02:30Z"];
        for (const at of times) expect(fill("{{ at | date: '%d %b %H:%M' }}", { at })).to.equal("30 Mar 02:30");
        expect(fill("{{ at | date_to_xmlschema }}", { at: "2026-11-21T09:30" })).to.equal("2026-11-21T09:30:00+00:00");
        expect(fill("{{ at | date: '%H:%M', 'Asia/Kolkata' }}", { at: "2026-11-21T09:30" })).to.equal("15:00");
        expect(fill("{{ at | date: '%Y' }}", { at: "soon" })).to.equal("soon");
        expect(fill("{{ 'now' | date: '%Y-%m-%dT%H' }}")).to.equal(new Date().toISOString().slice(0, 13));
      });
    }
  });

  it("is not filled in with a gap: a variable that is missing is named, with its place", () => {
    expect(faultOf("Hello\n  {{ nmae }}", { name: "Ada" })).to.deep.include({
      message: "undefined variable: nmae",
      place: { line: 2, column: 6 },
    });
  });

  it("does not write an object as [object Object]", () => {
    expect(faultOf("{{ a }}", { a: { b: 1 } }).message).to.equal("an object cannot be written");
    expect(faultOf("{{ a | raw }}", { a: [{}] }).message).to.equal("an object cannot be written");
  });

  for (const name of ["constructor", "__proto__", "toString", "a.constructor", "a.__proto__", "a.toString", "b.at"]) {
    it(`does not reach ${name}`, () => {
      expect(faultOf(`{{ ${name} }}`, { a: {}, b: [] }).message).to.match(/^undefined variable/);
    });
  }

  for (const tag of ["include", "render", "layout", "block", "liquid", "tablerow"]) {
    it(`knows no tag ${tag}`, () => expect(faultOf(`{% ${tag} 'x' %}`).message).to.equal(`tag "${tag}" not found`));
  }

  for (const filter of ["where_exp", "group_by_exp", "json", "base64_decode", "sha256", "constructor", "__proto__"]) {
    it(`knows no filter ${filter}`, () => {
      expect(faultOf(`{{ 1 | ${filter} }}`).message).to.equal(`undefined filter: ${filter}`);
    });
  }

  it("lets no markup into HTML, whatever stands in the variables", () => {
    const sources = [
      "{{ a }}",
      "{% echo a %}",
      "{% cycle a %}",
      "{% assign b = a %}{{ b }}",
      "{% for i in l %}{{ i }}{% endfor %}",
      "{{ a | append: a | prepend: a }}",
      "{{ l | join: a }}",
      "{{ n | default: a }}",
      "{{ a | escape | append: a }}",
      "{{ a | split: ' ' | reverse | join: a }}",
      "{{ l }}",
      "{{ a | newline_to_br | append: a }}",
      "{{ a | truncate: 9, a }}",
      "{% capture b %}{{ a }}{% endcapture %}{{ b }}{{ a }}{{ b | strip }}{{ b | append: a }}",
    ];
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(markup, "<", ">", '"', "'", "{{ a }}", "{% raw %}"),
    );
    fc.assert(
      fc.property(text, fc.array(text), fc.constantFrom(...sources), (a, l, source) => {
        expect(fill(source, { a, l, n: null })).not.to.match(/[<>"']|&(?!(amp|lt|gt|#34|#39);)/);
      }),
      { numRuns: runsOf(2000) },
    );
  });

  for (const [what, [source, variables]] of Object.entries(hostile)) {
    it(`that ${what} is stopped, at little cost`, () => {
      // Ten times what it takes on a slow core: without the limits it would take minutes, or all memory.
      expect(cpuMs(() => faultOf(source, variables))).to.be.lessThan(1000);
    });
  }
});
