import { expect } from "chai";
import type { ProjectorRunner } from "../../projections/following/run-projector.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addJobsCommands } from "../../src/cli/jobs.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { type ApiWithReadSide, startApiWithReadSide } from "../support/api-with-read-side.ts";
import { createCommandLine } from "../support/cli.ts";
import { later } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { cancelled, failed, paused, pending } from "../support/histories.ts";
import { jobsWith } from "../support/read-side.ts";

describe("The commands that act on jobs by a filter", () => {
  let service: ApiWithReadSide;
  let projector: ProjectorRunner;

  beforeEach(async () => {
    service = await startApiWithReadSide({ now: () => later });
    projector = service.readSide.startProjector(jobsProjector);
  });
  afterEach(() => service.close());

  const happens = (...histories: Parameters<typeof jobsWith>[1]) => jobsWith(service.readSide, histories);
  const env = () => ({ WAYBILL_URL: service.api.url });
  const run = (...args: readonly string[]) => createCommandLine([addJobsCommands], env()).run("jobs", ...args);
  /** A command line at a terminal at which each question gets the same answer. */
  const atTerminal = (answer: string) => {
    const questions: string[] = [];
    const ask = async (question: string): Promise<string> => {
      questions.push(question);
      return answer;
    };
    const { run: runAny } = createCommandLine([addJobsCommands], env(), { isTerminal: true, ask });
    return { questions, run: (...args: readonly string[]) => runAny("jobs", ...args) };
  };
  const lastTypes = (jobs: readonly JobRef[]) =>
    Promise.all(
      jobs.map(async (job) => (await service.readSide.log.readDecisions(job as JobRef)).at(-1)?.event.type ?? ""),
    );

  it("count with --dry-run, and change nothing", async () => {
    const jobs = await happens(pending(), pending(), paused(), cancelled());
    expect((await run("cancel", "--status", "queued,paused", "--dry-run")).printed).to.deep.equal(["3 jobs match."]);
    expect((await run("resume", "--status", "paused", "--dry-run")).printed).to.deep.equal(["1 job matches."]);
    const counted = JSON.parse((await run("cancel", "--status", "queued", "--dry-run", "--json")).printed.join(""));
    expect(counted).to.have.keys("matched", "asOf").and.include({ matched: 2 });
    expect(await lastTypes(jobs)).to.deep.equal(["JobCreated", "JobCreated", "JobPaused", "JobCancelled"]);
  });

  it("act on those that match and on no others, with the reason", async () => {
    const jobs = await happens(pending(), pending(), paused(), failed());
    const { printed } = await run("pause", "--status", "pending, queued", "--reason", "wait");
    expect(printed).to.deep.equal(["pause: done for 2 jobs."]);
    expect(await lastTypes(jobs)).to.deep.equal(["JobPaused", "JobPaused", "JobPaused", "JobFailed"]);
    const [decision] = (await service.readSide.log.readDecisions(jobs[0] as JobRef)).slice(-1);
    expect(decision?.event.data).to.deep.equal({ reason: "wait" });

    await service.readSide.caughtUp("jobs");
    const lines = (await run("resume", "--created-before", "2099-01-01T00:00:00Z", "--json")).printed;
    const outcomes = lines.map((line) => JSON.parse(line));
    expect(outcomes.map(({ id, outcome }) => `${id} ${outcome}`).sort()).to.deep.equal(
      jobs
        .slice(0, 3)
        .map(({ jobId }) => `${jobId} changed`)
        .sort(),
    );
    await run("retry", "--status", "failed", "--scope", "unsent");
    expect((await lastTypes(jobs))[3]).to.equal("JobRetried");
  });

  it("go on over the pages of the API, once the number was typed at a terminal", async () => {
    const jobs = await happens(...Array.from({ length: 60 }, () => pending()));
    const refused = atTerminal("yes");
    expect((await failureOf(refused.run("cancel", "--status", "queued"))).message).to.equal("Nothing was done.");
    expect(refused.questions).to.deep.equal([`cancel 60 jobs of ${service.api.url}? Type 60 to do it: `]);
    expect(new Set(await lastTypes(jobs))).to.deep.equal(new Set(["JobCreated"]));
    const agreed = atTerminal("60");
    expect((await agreed.run("cancel", "--status", "queued")).printed).to.deep.equal(["cancel: done for 60 jobs."]);
    expect(new Set(await lastTypes(jobs))).to.deep.equal(new Set(["JobCancelled"]));
    await service.readSide.caughtUp("jobs");
    const again = atTerminal("60");
    expect((await again.run("cancel", "--status", "queued")).told).to.deep.equal(["There are no such jobs to cancel."]);
    expect(again.questions).to.deep.equal([]);
  });

  it("name each job that the rules keep as it is, and fail", async () => {
    const [job] = await happens(pending());
    await projector.stop();
    const ask = service.api.ask;
    const atQuestion = createCommandLine([addJobsCommands], env(), {
      isTerminal: true,
      ask: async () => {
        await ask("DELETE", `/api/jobs/${job?.jobId}`);
        return "yes";
      },
    });
    const failure = await failureOf(atQuestion.run("jobs", "pause", "--status", "queued"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal(`${job?.jobId}: job-has-ended`);
  });

  it("never act on everything because a word is missing, nor on two things at once", async () => {
    const [job] = await happens(pending());
    for (const words of [
      [],
      ["--reason", "x"],
      [job?.jobId ?? "", "--status", "pending"],
      [job?.jobId ?? "", "--dry-run"],
    ]) {
      const failure = await failureOf(run("cancel", ...words));
      expect(failure).to.be.instanceOf(WrongUsage);
      expect(failure.message).to.include("--status, --type, --mailing, --q, --created-after, --created-before");
    }
    const unknown = await failureOf(run("cancel", "--status", "waiting"));
    expect(unknown).to.be.instanceOf(WrongUsage);
    expect(unknown.message).to.match(/status.*pending, scheduled/);
  });
});
