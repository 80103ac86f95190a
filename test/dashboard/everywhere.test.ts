import { expect } from "chai";
import { openPage, phone } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";

const looks = {
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a phone": { ...phone, colorScheme: "light" },
} as const;

const templateName = "everywhere-".repeat(5);

describe("Every page of the dashboard", () => {
  let stage: DashboardStage;
  let jobId: string;
  let mailingId: string;

  let scheduleId: string;

  before(async () => {
    stage = await dashboardStage();
    const recipients = ["ada@example.com", `${"long-name-".repeat(6)}@${"sub.".repeat(20)}example.com`];
    jobId = await stage.api.create({ subject: "A subject-without-any-space".repeat(5), body: "x", recipients });
    await stage.api.ended(jobId);
    const brakes = { window: { days: ["mon", "sun"], from: "08:00", to: "18:00", timeZone: "Europe/Berlin" } };
    const letter = { name: "A name-without-any-space".repeat(5), subject: "x", body: "x" };
    mailingId = await stage.api.createMailing({ ...letter, ...brakes });
    const cron = {
      name: "A name-without-any-space".repeat(4),
      cron: "30 8 * * mon",
      timeZone: "America/Argentina/ComodRivadavia",
    };
    const made = { subject: "x", body: "x".repeat(300), recipients: ["ada@example.com"] };
    scheduleId = await stage.api.createSchedule({ ...cron, job: made });
    const template = {
      subject: "A subject-without-any-space".repeat(5),
      body: "x",
      headers: { "X-Long": "y".repeat(300) },
    };
    await fetch(`${stage.url}/api/templates/${templateName}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(template),
    });
  });

  for (const [look, options] of Object.entries(looks)) {
    it(`is accessible ${look}, and keeps to its policy and to its own origin`, async function () {
      this.timeout(120_000);
      const watched = await openPage(stage.url, options);
      const { page } = watched;
      const job = `jobs/${jobId}`;
      const places = {
        overview: "Read models",
        jobs: "in all",
        [job]: "2 recipients",
        [`${job}?tab=errors`]: "No errors in this job.",
        [`${job}?tab=history`]: "JobCompleted",
        mailings: "in all",
        [`mailings/${mailingId}`]: "Add recipients",
        compose: "Send to",
        [`compose?template=${templateName}@1`]: "The letter is version 1",
        templates: "everywhere",
        [`templates/${templateName}`]: "Variables of one recipient",
        [`templates/${templateName}?write=true`]: "Store as a new version",
        "templates?new=true": "Store this template",
        schedules: "America/Argentina/ComodRivadavia",
        [`schedules/${scheduleId}`]: "Nothing has come due yet.",
        [`schedules/${scheduleId}?change=true`]: "Save the changes",
        "schedules?new=true": "Create this schedule",
        "templates/no-such": "There is no template with this name",
        events: "Live, newest first.",
        "dead-letters?status=any": "Dead letters",
        suppressions: "Address to suppress",
        "recipients?email=ada@example.com": "Mailings to this address",
        "recipients?email=nobody-knows@example.com": "No mailing to this address is recorded.",
        system: "accepts jobs: yes",
        "jobs?q=matches-nothing": "No job matches these filters.",
        nowhere: "This page is not available.",
      };
      for (const [place, text] of Object.entries(places)) {
        await page.goto(`${stage.url}/#/${place}`);
        await page.getByRole("main").getByText(text).first().waitFor();
        expect(await watched.findBarriers(), place).to.deep.equal([]);
        const [wide, visible] = (await page.evaluate(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        )) as number[];
        expect(wide, `${place} is wider than the screen`).to.equal(visible);
      }
      await watched.close();
      expect(watched.sins).to.deep.equal([]);
    });
  }
});
