import { execFile } from "node:child_process";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const project = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["src", "projections", "migrations", "test"];

type Violation = { readonly from: string; readonly rule: { readonly name: string } };

/** What the check of imports says of some files: the rules that each of them breaks. A circle of two needs two steps. */
async function check(root: string, files: Iterable<string>): Promise<ReadonlyMap<string, readonly string[]>> {
  const script = join(project, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const options = ["--config", "test/rules/import-fences.cjs", "--output-type", "json", "--max-depth", "2"];
  const args = [script, ...options, ...files];
  const output = await run(process.execPath, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    // The exit code is the number of violations.
    ({ stdout }: { stdout: string }) => stdout,
  );
  const { summary }: { summary: { violations: readonly Violation[] } } = JSON.parse(output);
  const broken = new Map<string, string[]>();
  for (const { from, rule } of summary.violations) broken.set(from, [...(broken.get(from) ?? []), rule.name].sort());
  return broken;
}

const planted: readonly (readonly [rule: string, file: string, imports: string])[] = [
  ["fence-of-domain", "src/domain/job/clock.ts", "node:timers"],
  ["fence-of-domain", "src/domain/job/schema.ts", "../../schemas/events.ts"],
  ["fence-of-domain", "src/domain/job/package.ts", "ajv"],
  ["fence-of-schemas", "src/schemas/planted.ts", "../event-log/event-log.ts"],
  ["fence-of-commands", "src/commands/planted.ts", "../content/content-store.ts"],
  ["fence-of-http", "src/http/top.ts", "../roles/wiring.ts"],
  ["adapters-meet-ports-in-roles", "src/mail/port.ts", "./smtp-mailer.ts"],
  ["adapters-meet-ports-in-roles", "src/commands/adapter.ts", "../event-log/jetstream-event-log.ts"],
  ["fence-of-history", "src/history/planted.ts", "../commands/handle-command.ts"],
  ["fence-of-workers", "src/workers/planted.ts", "../job-kinds/email/templates/letters.ts"],
  ["fence-of-workers", "src/workers/rows.ts", "../../projections/jobs/rows.ts"],
  ["fence-of-turns/scheduler", "src/turns/scheduler/planted.ts", "../../http/api.ts"],
  ["fence-of-mail", "src/mail/planted.ts", "../event-log/event-log.ts"],
  ["fence-of-mail", "src/mail/inner.ts", "./routes/mail-route.ts"],
  ["fence-of-mail/routes", "src/mail/routes/planted.ts", "../../content/content-store.ts"],
  ["questions-only", "src/http/planted.ts", "../../projections/jobs/projector.ts"],
  ["fence-of-http", "src/http/metrics.ts", "../metrics/service-metrics.ts"],
  ["fence-of-standalone", "src/standalone/planted.ts", "../event-log/event-log.ts"],
  ["fence-of-content", "src/content/planted.ts", "../domain/../mail/mailer.ts"],
  ["fence-of-event-log", "src/event-log/planted.ts", "../content/content-store.ts"],
  ["fence-of-turns/scheduler", "src/turns/scheduler/jetstream-planted.ts", "../../workers/worker.ts"],
  ["fence-of-projections", "projections/planted.ts", "../src/commands/handle-command.ts"],
  ["read-models-are-apart", "projections/notifications/planted.ts", "../jobs/rows.ts"],
  ["fence-of-dashboard", "src/dashboard/planted.ts", "../http/server/answer.ts"],
  ["fence-of-dashboard-ui", "src/dashboard/ui/planted.tsx", "../../schemas/events.ts"],
  ["types-alone-from-the-server", "src/dashboard/ui/answers.ts", "../../http/answers/job.ts"],
  ["the-browser-only", "src/roles/browser.ts", "../dashboard/ui/page.ts"],
  ["fence-of-migrations", "migrations/planted.ts", "../src/domain/job/events.ts"],
];

/** These break the fence of their folder too, which is as it should be. */
const outsideTheirRow: readonly (readonly [rule: string, file: string, imports: string])[] = [
  ["nats-in-adapters-only", "src/workers/nats.ts", "nats"],
  ["nats-in-adapters-only", "projections/nats.ts", "nats"],
  ["sql-in-adapters-only", "src/http/sql.ts", "knex"],
  ["sql-in-adapters-only", "src/outbox/sql.ts", "mysql2/promise"],
  ["every-folder-has-a-row", "src/roles/planted.ts", "../utils/planted.ts"],
  ["no-tests-in-production", "src/dashboard/planted-test.ts", "../../test/support/eventually.ts"],
  ["no-unresolved", "src/mail/nowhere.ts", "./no-such-file.ts"],
  ["no-development-packages-in-production", "src/http/development.ts", "chai"],
];

describe("the fences between the folders", () => {
  let copy: string;
  let broken: ReadonlyMap<string, readonly string[]>;
  const files = new Set<string>();

  const plant = async (file: string, text: string): Promise<void> => {
    files.add(file);
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await writeFile(join(copy, file), text);
  };

  before(async () => {
    copy = await temporaryFolder();
    await Promise.all([...folders, "package.json", "tsconfig.json"].map((name) => cpInto(copy, name)));
    await symlink(join(project, "node_modules"), join(copy, "node_modules"));
    for (const [, file, imports] of [...planted, ...outsideTheirRow]) await plant(file, `import "${imports}";\n`);
    await plant("src/mail/circle-one.ts", 'import { two } from "./circle-two.ts";\nexport const one = () => two();\n');
    await plant("src/mail/circle-two.ts", 'import { one } from "./circle-one.ts";\nexport const two = () => one();\n');
    await plant("src/mail/types-one.ts", 'import type { Two } from "./types-two.ts";\nexport type One = Two[];\n');
    await plant("src/mail/types-two.ts", 'import type { One } from "./types-one.ts";\nexport type Two = One[];\n');
    await plant("src/utils/planted.ts", "export const utility = 1;\n");
    await plant("src/mail/orphan.ts", "export const orphan = 1;\n");
    broken = await check(copy, files);
  });
  after(() => rm(copy, { recursive: true, force: true }));

  const cpInto = (target: string, name: string): Promise<void> =>
    cp(join(project, name), join(target, name), { recursive: true });

  for (const [rule, file, imports] of planted) {
    it(`stop ${file} from importing ${imports}`, () => {
      expect(broken.get(file)).to.deep.equal([rule]);
    });
  }

  for (const [rule, file, imports] of outsideTheirRow) {
    it(`stop ${file} from importing ${imports}`, () => {
      expect(broken.get(file)).to.include(rule);
    });
  }

  it("stop files that import each other in a circle, be it a circle of types", () => {
    expect(broken.get("src/mail/circle-one.ts")).to.deep.equal(["no-cycles"]);
    expect(broken.get("src/mail/types-one.ts")).to.deep.equal(["no-cycles"]);
  });

  it("stop a file that imports nothing and that no file imports", () => {
    expect(broken.get("src/mail/orphan.ts")).to.deep.equal(["no-orphans"]);
  });
});
