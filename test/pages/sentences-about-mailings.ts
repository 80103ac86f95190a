/** The beginning of a sentence of a guide; a test file that executes it, and a part of the title of its test. */
type Executed = readonly [sentence: string, file: string, title: string];

/** Its blocks are run, in its order, and their output compared. */
const ownBlocks = ["test/docs/application-developer.test.ts", "describeDocument(guide"] as const;

const templates = "test/http/templates.test.ts";
const http = "test/http/mailings.test.ts";
const decisions = "test/http/mailing-decisions.test.ts";
const parts = "test/http/parts-of-mailing.test.ts";
const journey = "test/journey/mailing.test.ts";
const domain = "test/domain/mailing.test.ts";
const evidence = "test/seals/mailing-evidence.test.ts";
const send = "test/cli/send.test.ts";
const brakes = "test/mailings/brakes.test.ts";
const schedules = "test/http/schedules.test.ts";
const firing = "test/mailings/schedules/follow-schedules.test.ts";
const times = "test/mailings/schedules/due-times.test.ts";
const explainJob = "test/explain/explain-job.test.ts";

/** Each sentence of these sections of the guide for application developers, in its order. */
export const ofDevelopers: Readonly<Record<string, readonly Executed[]>> = {
  Templates: [
    ["A letter that is sent again", ...ownBlocks],
    ["`PUT /api/templates/:name` stores it as the next", templates, "answers a letter that it has with its version"],
    ["No version ever changes", templates, "gets a new version with each other letter, and keeps the old ones"],
    ["A request for a job or a [mailing]", "test/outbox/relayed-row.test.ts", "may name a template of its tenant"],
    ["`welcome@1` is that version", templates, "is the latest version where the job names none"],
    ["The answer and the log (`JobCreated`", templates, "may be named by a mailing, whose letter it becomes"],
    ["The words are copied into the job", templates, "becomes its words, which the digest in the log covers"],
    ["A `from`, `replyTo`, `headers`", templates, "gives way to headers and to a link to unsubscribe"],
    ["The same request with the same", templates, "stays the same for a repeated request"],
    ["`GET /api/templates` lists the names", templates, "is listed in pages"],
    ["`DELETE` archives the name", templates, "comes back from the archive with the next letter"],
    ["`waybill templates` lists", "test/cli/templates.test.ts", "fill one in, its latest version or another"],
  ],
  Mailings: [
    ["A mailing has one letter and as many", domain, "takes 20,000 parts and no more"],
    ["You create a draft with the letter", ...ownBlocks],
    ["Waybill mails it in parts", "test/mailings/follow-mailings.test.ts", "keeps so many parts open, and no more"],
    ["In CSV the first line names the columns", http, "takes columns as variables"],
    ["In NDJSON each line is a recipient", ...ownBlocks],
    ["The service reads a file while it arrives", journey, "is mailed to each address of its files exactly once"],
    ["A faulty line is left out", http, "names the first hundred faulty lines, and counts all"],
    ["An address is in a mailing once", "test/mailings/import-recipients.test.ts", "and in whatever case"],
    ["So after an import that broke off", "test/journey/long-import.test.ts", "exactly the valid, distinct recipients"],
    ["Of two imports into one mailing", http, "takes one of two files that come at the same time"],
    ["The start takes a `scheduledAt`", journey, "is scheduled until its time has come"],
    ["It can be repeated where its answer was lost", domain, "ends with its last part"],
    ["But it starts again what a person has", send, "starts no mailing again that was taken back before"],
    ["Once a mailing has started", domain, "takes recipients as long as it is a draft"],
    ["`progress` counts the recipients of all parts", ...ownBlocks],
    ["The parts are listed as the jobs", ...ownBlocks],
    ["What became of whom is answered", parts, "are those of the parts that are jobs, part by part"],
    ["`/recipients` shows each with", parts, "can be asked for some statuses, and for a whole address in any case"],
    ["A page can be short", parts, "are each on one page of a cursor, of any length, across parts"],
    ["`nextCursor`, and the `Link` header", parts, "have a log of all parts in the order in which it happened"],
    ["`/events` is the mailing's own history", parts, "have their decisions in the mailing's own history"],
    ["`/stream` shows the progress", "test/http/stream-mailing.test.ts", "counts on, a few times a second"],
    [
      "Server-Sent Events, each with the mailing",
      "test/http/stream-mailing.test.ts",
      "begins with the mailing as GET shows",
    ],
    ["The evidence of a mailing proves", evidence, "lists every part with its number, its job"],
    ["`waybill verify` checks without a server", evidence, "shows that a part is missing"],
    ["A mailing ends `completed`", domain, "says honestly how it ended"],
    ["A pause, a resume and a cancel", journey, "waits while it is paused, and goes on"],
    ["Waybill decides the same about the parts", journey, "that is cancelled in the middle mails nobody more"],
    [
      "A cancel is final, and erases",
      "test/erasure/unmade-parts.test.ts",
      "are erased where their mailing was cancelled",
    ],
    ["A tenant may have 5,000 mailings", decisions, "is not started where the tenant has 5000 open"],
    ["`waybill send` does all of this", send, "mails every row once, with its own variables, in one mailing"],
    ["A row that cannot be mailed", send, "names the lines without a usable address, and sends nothing"],
    ["After Ctrl-C, a crash or a lost", "test/cli/killed-send.test.ts", "by SIGKILL and by SIGINT, goes on"],
    ["What people have taken back", "test/cli/send-approval.test.ts", "does not ask again by itself"],
    ["`--dry-run` shows the first mail", send, "leaves a draft, tests it, and starts it with the same command"],
    ["`waybill mailings` lists, shows", "test/cli/mailings.test.ts", "make one step by step, mail it"],
    ["[All commands]", "test/pages/commands.test.ts", "says of every command what its help says"],
    ["**A test mail.** A mailing that has not started", decisions, "names what is wrong, and then nothing is recorded"],
    ["With an `Idempotency-Key` the same test", decisions, "is a job with the letter as it is, once for a key"],
    ["The mailing lists its `tests`", decisions, "which the mailing names and does not count"],
    ["**An undo.** With `undoFor`", "test/domain/undo-mailing.test.ts", "waits for so long after its start, or until"],
    ["Until `undoUntil` an undo makes it", "test/mailings/undo-mailing.test.ts", "are all made or none"],
    ["Later it is 409 `undo-time-over`", decisions, "takes a start back as long as there is time"],
    ['**An approval.** With `"approval"', decisions, "is needed above a number of recipients"],
    ["A second key with the scope", decisions, "is asked for with one key and given with another"],
    ["The approval names the `digest`", "test/domain/approve-mailing.test.ts", "has another digest for another letter"],
    [
      "Whatever starts again, after a rejection",
      "test/domain/approve-mailing.test.ts",
      "asks again after an undo, too",
    ],
    ["Without keys nobody can be told", decisions, "cannot be where no keys tell people apart"],
    ["[With keys](#to-production)", ...ownBlocks],
    ["Jobs of `POST /api/jobs`", decisions, "is not needed for a job, however many recipients"],
    [
      "**A retry of the whole.** Of a mailing",
      "test/mailings/retry-mailing.test.ts",
      "are those whose jobs have failed",
    ],
    ["The mailing is open again, and ends", "test/journey/mailing-decisions.test.ts", "that has failed is run again"],
    ["Where nobody is left over", decisions, "is for a mailing that has ended, and of which a part has failed"],
    ["A mailing need not go out all at once", http, "shows its brakes, and takes none that cannot be"],
    ["`rate` is the most recipients", brakes, "no faster than its rate, whichever process does it"],
    ["`rampUp` begins with `firstHour`", brakes, "in a ramp-up larger ones later"],
    ["`window` names the days and hours", brakes, "waits for its window, and for the time"],
    ["The parts of such a mailing hold", brakes, "has parts of what may go in a minute, after the first hour in five"],
    ["After a pause nothing is made up", brakes, "makes nothing up after a pause"],
    ["`stopWhen` pauses the mailing", brakes, "pauses once too many came back for good"],
    [
      "`stoppedBy` says how many",
      "test/domain/brakes.test.ts",
      "counts from the start again once people have resumed it",
    ],
    ["`waybill send` has the same as", send, "goes out faster and faster, and stops by itself"],
  ],
  Schedules: [
    ["What is to be sent every Monday", schedules, "are created, with the next five times"],
    ["**When.** `cron` has five fields", times, "are those that names, steps, ranges, the last day"],
    ["A day that fits either the day", times, "come on a day that fits either the day of the month"],
    ["`timeZone` is `UTC`", schedules, "are replaced as a whole, and the content before is gone"],
    ["**When the clocks change**", times, "fire once on the day that has such a time twice"],
    ["So does every expression that names", times, "do the same through both changes where the hours are a range"],
    ["One with `*` or a step in them", times, "come every half hour through both changes"],
    ["`*/30 * * * *` fires", times, "come every half hour through both changes"],
    [
      "**Once.** The log names a firing",
      "test/mailings/schedules/crashes.test.ts",
      "make one job where the first dies at request",
    ],
    ["It is made by the actor", firing, "makes the job of its template at each of its times"],
    ["**While the one before still runs**", firing, "skips times at which the job before has not ended"],
    ["`skip` leaves the time out", firing, "lets one time wait for the end of the job before, and no more"],
    ["A mailing that waits for its approval", firing, "lets it wait for one, by another key"],
    ["**While the service is away**", firing, "makes up for the latest of them where it is asked to"],
    ["Times that pass while the schedule is paused", firing, "fires nothing while it is paused, and makes nothing up"],
    ["**What it makes** is decided", firing, "takes the latest version of a template at each firing"],
    ['`"template": "welcome"` is the latest', firing, "takes the latest version of a template at each firing"],
    ["What is refused then", firing, "records a firing whose job is refused, and fires the next one"],
    ["What would be refused today", schedules, "say all that is wrong with a request"],
    ["`scheduledAt`, `notAfter` and `dryRun`", schedules, "say all that is wrong with a request"],
    ["**A mailing** has `recipientsOf`", firing, "leaves out of a mailing who was erased from the other one"],
    ["Then it starts.", firing, "makes a mailing with the recipients that another one has, and starts it"],
    ["Where an approval is needed it waits", firing, "by another key than that which made the schedule"],
    [
      "`RETENTION_DAYS` erases the recipients",
      firing,
      "fails a mailing that nobody would get, and leaves no draft of it",
    ],
    ["So name a younger mailing in time", firing, "leaves out of a mailing who was erased from the other one"],
    [
      "If the schedule is changed while it makes",
      firing,
      "sends no letter to recipients for whom it was not meant, where it was changed in the midst of making a mailing",
    ],
    ["`GET /api/schedules` lists them", schedules, "are listed, the newest first, without their templates"],
    ["`fired` with the id of the job", schedules, "show what became of their times"],
    ["`PUT` replaces all of it", firing, "leaves what it has made when it is deleted"],
    ["A tenant has at most 100 schedules", schedules, "are ten thousand at most over all tenants"],
    ["An [erasure](#erasing-a-person)", schedules, "lose a person who is erased, and pause when nobody is left"],
    ["`waybill schedules` does all", "test/cli/schedules.test.ts", "pause, resume and delete it"],
  ],
  "Why it waits": [
    ["`GET /api/jobs/:id/explain` and", "test/journey/explain.test.ts", "is which parts of a mailing are left"],
    ["`code` is stable, `since`", explainJob, "says who paused it, why, and what ends that"],
    ["`waybill jobs explain` prints", ...ownBlocks],
    [
      "A job whose time has come keeps the status",
      explainJob,
      "says what keeps one from being taken whose time has come",
    ],
    ["Where a job is, the log says", "test/journey/explain.test.ts", "is said without what only a read model knows"],
    ["What could not be found out", explainJob, "names what is not known, and guesses nothing about it"],
    ["Since when a breaker is open", explainJob, "with no time for it, which no other process knows"],
    ["The daily quota delays no job", "test/http/tenants-keys.test.ts", "holds a tenant to its recipients of the day"],
  ],
};

/** Sentences about mailings and schedules in the other guides. */
export const ofOthers: Readonly<Record<string, readonly Executed[]>> = {
  operator: [
    ["Two people for one mailing: `APPROVAL_ABOVE`", decisions, "is needed above a number of recipients"],
    ["Who asked and who decided is in the log.", "test/domain/approve-mailing.test.ts", "starts with its approval"],
    ["Keys tell people apart, so give each person", decisions, "cannot be where no keys tell people apart"],
    ["mailings that stopped by themselves", "test/domain/alerts.test.ts", "is a sentence that says what was found"],
    [
      "The page of a mailing that stopped",
      "test/dashboard/mailing.test.ts",
      "shows that it stopped by itself, and resumes",
    ],
    ["`stopWhen` of a mailing may have a", brakes, "pauses for complaints, and counts anew once it was resumed"],
    ["a mailing that is a draft or has not ended", "test/archive/open-mailings.test.ts", "holds back its first event"],
    [
      "Of a schedule only the last event is needed",
      "test/archive/open-schedules.test.ts",
      "holds back nothing old any more",
    ],
    ["`waybill mailings pause ID`", "test/cli/mailings.test.ts", "take a start back, pause, resume and cancel"],
  ],
  auditor: [
    ['"schedulesChanged":0', "test/erasure/schedules.test.ts", "loses a person once, and what it was before is gone"],
  ],
  "reference/failures": [
    [
      "the firing stands in the log, with the id",
      "test/journey/killed-schedule.test.ts",
      "is followed by one that makes each",
    ],
  ],
};
