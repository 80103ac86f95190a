import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { defaultJobType } from "../../src/domain/job/events.ts";
import { jobTypes } from "../../src/job-kinds/all-job-kinds.ts";

/** What is special about a kind is asked of the kind, through the registry. These places name one, for the reason given. */
const exceptions = {
  // The names of its lanes, consumers and worker say no kind, and the log cannot ask the registry, which stands above it.
  "src/domain/job/events.ts": ["email.send"],
  // The pages have words and forms of their own for mails and for files.
  "src/dashboard/ui/reading/kinds.ts": ["email.send", "report.export"],
  // Examples of events, the same as the recorded ones.
  "src/schemas/events-of-jobs.ts": ["webhook.deliver"],
};

const filesUnder = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => `${folder}/${path}`);

const namesIn = (path: string): readonly string[] => {
  const text = readFileSync(path, "utf8");
  return jobTypes.filter((type) => text.includes(`"${type}"`));
};

describe("The name of a kind of job", () => {
  it("stands nowhere in the code but in the folder of its kind", () => {
    const elsewhere = [...filesUnder("src"), ...filesUnder("projections")]
      // The types of the SDK are written by the build.
      .filter((path) => !path.startsWith("src/job-kinds/") && path !== "src/sdk/api.ts")
      .map((path) => [path, namesIn(path)] as const)
      .filter(([, names]) => names.length > 0);
    expect(Object.fromEntries(elsewhere)).to.deep.equal(exceptions);
  });

  it("stands in the folder of one kind alone", () => {
    const folderOf = (path: string): string => path.split("/")[2] ?? "";
    for (const type of jobTypes) {
      const folders = filesUnder("src/job-kinds")
        .filter((path) => namesIn(path).includes(type))
        .map(folderOf);
      expect(new Set(folders), type).to.have.property("size", 1);
    }
  });

  it("is two words and a dot, as the schemas of events want it", () => {
    for (const type of jobTypes) expect(type).to.match(/^[a-z]+\.[a-z]+$/);
  });

  it("is that of a registered kind where a request names none", () => {
    expect(jobTypes).to.include(defaultJobType);
  });
});
