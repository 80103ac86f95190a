import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { type Config, InvalidConfig, readConfig } from "../../src/settings/config.ts";
import { readPage } from "./read-page.ts";

type Row = { readonly name: string; readonly value: string; readonly allowed: string };

/** A value that no setting with a rule takes. */
const nonsense = "☂";

/** Every name that the program asks the environment for. */
function settingsOfProgram(): readonly string[] {
  const asked = new Set<string>();
  // Some settings are read only where another one is given.
  for (const given of [{}, { NATS_URL: "nats://a" }] as Record<string, string>[]) {
    const note = (_: unknown, name: string | symbol): string | undefined => {
      asked.add(String(name));
      return given[String(name)];
    };
    readConfig(new Proxy<Record<string, string>>(given, { get: note }));
  }
  return [...asked].sort();
}

/** What the program says it expects when a setting is nonsense; null where it takes any text. */
function expectation(name: string): string | null {
  try {
    readConfig({ [name]: nonsense });
    return null;
  } catch (failure) {
    if (!(failure instanceof InvalidConfig)) throw failure;
    const [, expected = ""] = new RegExp(`^  ${name} is .*?; expected (.*)$`, "m").exec(failure.message) ?? [];
    return expected;
  }
}

/** The values that differ from those of an environment without settings, as they are without. */
function defaultsChangedBy(name: string, value: string): readonly unknown[] {
  const flat = (part: unknown, path: string): readonly (readonly [string, unknown])[] =>
    typeof part === "object" && part !== null && !Array.isArray(part) && !(part instanceof Set)
      ? Object.entries(part).flatMap(([key, inner]) => flat(inner, `${path}.${key}`))
      : [[path, part]];
  const named = (config: Config): Config => ({ ...config, processName: "" });
  const set = new Map(flat(named(readConfig({ [name]: value })), ""));
  return (
    flat(named(readConfig({})), "")
      // Whether it was given is no default.
      .filter(([path, byDefault]) => path !== ".areReplicasSet" && !isDeepStrictEqual(set.get(path), byDefault))
      .map(([, byDefault]) => byDefault)
  );
}

describe("The reference of settings", () => {
  let rows: readonly Row[];

  before(async () => {
    const markdown = await readPage("ops/guides/reference/settings.md");
    rows = [...markdown.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+?) \| .+ \|$/gm)].map(
      ([, name = "", value = "", allowed = ""]) => ({ name, value, allowed }),
    );
  });

  it("lists every setting that the program reads, once, and no other", () => {
    expect(rows.map(({ name }) => name).sort()).to.deep.equal(settingsOfProgram());
  });

  it("says the defaults that the program has", () => {
    for (const { name, value, allowed } of rows) {
      const shown = /^`(.+)`$/.exec(value)?.[1];
      if (shown !== undefined) expect(defaultsChangedBy(name, shown), name).to.deep.equal([]);
      const [, lowest, highest] = / from ([\d.]+) to ([\d.]+)/.exec(allowed) ?? [];
      if (lowest === undefined || highest === undefined) continue;
      const changed = [lowest, highest].flatMap((bound) => defaultsChangedBy(name, bound));
      expect(changed, name).not.to.deep.equal([]);
      if (shown === undefined) expect(new Set(changed), `${name} has a default`).to.deep.equal(new Set([null]));
    }
  });

  it("says what is allowed as the program says it where something else is given", () => {
    for (const { name, allowed } of rows) {
      const expected = expectation(name);
      if (expected === null) continue;
      const cell = allowed.replaceAll("`", "");
      // After the rule the program may say what is wrong with this value; after it the page may say what is allowed besides.
      const [rule = ""] = expected.split(/; (?=user and|item |ENOENT)|, or one that/);
      expect(cell.startsWith(rule), `${name}: "${cell}" is not "${rule}"`).to.equal(true);
    }
  });
});
