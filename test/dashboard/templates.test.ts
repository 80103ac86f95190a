import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { bearer, newKey, ringOf } from "../support/keys.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const first = { subject: "Welcome, {{ name }}", body: "<p>Hello {{ name }}</p>", headers: { "X-Kind": "greeting" } };
const second = { ...first, subject: "Good to see you, {{ name }}", replyTo: "desk@example.org" };

describe("The pages of templates", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  let tracker: Receiver;

  before(async () => {
    stage = await dashboardStage();
    tracker = await startReceiver();
    watched = await openPage(stage.url);
  });
  after(async () => {
    await watched.close();
    await tracker.stop();
    expect(watched.sins).to.deep.equal([]);
  });

  const put = async (name: string, ...letters: readonly object[]): Promise<void> => {
    for (const letter of letters) {
      const body = JSON.stringify(letter);
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`${stage.url}/api/templates/${name}`, { method: "PUT", headers, body });
      expect(answer.status).to.equal(201);
    }
  };
  const read = async (name: string) =>
    (await stage.api.get(`/api/templates/${name}`)).body as {
      readonly latest: number;
      readonly letter: object;
      readonly versions: readonly { readonly sha256: string }[];
    };
  const open = (place: string) => watched.page.goto(`${stage.url}/#/${place}`);
  const press = (name: string) => watched.page.getByRole("button", { name, exact: true }).click();
  const frame = () => watched.page.frameLocator("iframe.mail");

  it("list each with its versions, and lead to it", async () => {
    const { page } = watched;
    await put("listed", first, second);
    await open("templates");
    const row = page.getByRole("row", { name: /^listed 2 / });
    await row.getByText("ago").or(row.getByText("just now")).waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await page.getByRole("link", { name: "listed" }).click();
    await page.getByRole("heading", { name: "Version 2, the latest" }).waitFor();
  });

  it("show a letter with sample variables, in a frame where nothing runs and nothing is fetched", async () => {
    const { page } = watched;
    const picture = `<img src="${tracker.url}/pixel.png"><script>document.title = "taken"</script>`;
    await put("shown", { ...first, body: `${first.body}${picture}` });
    await open("templates/shown");
    await frame().getByText("Hello name").waitFor();
    await page.getByRole("heading", { name: "Welcome, name" }).waitFor();
    await page.getByText("greeting", { exact: true }).waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    const variables = page.getByLabel("Variables of one recipient");
    await variables.fill('{"name": "Ada"}');
    await press("Preview");
    await frame().getByText("Hello Ada").waitFor();
    await page.getByRole("tab", { name: "Text" }).click();
    await page.getByRole("tabpanel").getByText("Hello Ada").waitFor();
    await page.getByRole("tab", { name: "As it was written" }).click();
    await page.getByRole("tabpanel").getByText("<p>Hello {{ name }}</p>").waitFor();
    expect(tracker.received).to.deep.equal([]);

    await variables.fill('{"name": ');
    await press("Preview");
    await page.getByText("This is not JSON").waitFor();
    expect(await variables.getAttribute("aria-invalid")).to.equal("true");
    await variables.fill('{"nome": "Ada"}');
    await press("Preview");
    await page.getByRole("alert").getByText("variables cannot fill in").first().waitFor();
    expect(await page.getByText("This is not JSON").count()).to.equal(0);
  });

  it("show every version with its digest, and each at an address of its own", async () => {
    const { page } = watched;
    await put("versions", first, second);
    const { versions } = await read("versions");
    await open("templates/versions");
    await page.getByRole("heading", { name: "Good to see you, name" }).waitFor();
    await page.getByText("desk@example.org").waitFor();
    const rows = page.getByRole("row", { name: /^Version \d/ });
    for (const [index, digest] of versions.map(({ sha256 }) => sha256).entries()) {
      await rows
        .nth(1 - index)
        .getByText(digest)
        .waitFor();
    }
    await page.getByRole("link", { name: "Version 1" }).click();
    await page.getByRole("heading", { name: "Version 1 of 2" }).waitFor();
    await page.getByRole("heading", { name: "Welcome, name" }).waitFor();
    expect(await page.getByText("desk@example.org").count()).to.equal(0);
    await page.reload();
    await page.getByRole("heading", { name: "Version 1 of 2" }).waitFor();
    await open("templates/versions?version=9");
    await page.getByRole("alert").getByText("There is no template with this name, or no such version of it.").waitFor();
  });

  it("write a new version of what another one says, with all that belongs to it", async () => {
    const { page } = watched;
    await put("written", second);
    await open("templates/written");
    await press("Write a new version");
    const form = page.getByRole("region", { name: "Write" });
    expect(await form.getByLabel("Reply to").inputValue()).to.equal(second.replyTo);
    await form.getByLabel("Body:").fill("<p>Dear {{ name </p>");
    await form.getByLabel("Headers").fill("X-Kind: greeting");
    expect(await watched.findBarriers()).to.deep.equal([]);
    await press("Store as a new version");
    await form.getByText("This is not JSON").waitFor();
    await form.getByLabel("Headers").fill('{"X-Kind": "letter"}');
    await press("Store as a new version");
    await form.getByRole("alert").getByText("body cannot be read as a template").waitFor();
    expect(await form.getByLabel("Body:").getAttribute("aria-invalid")).to.equal("true");
    expect((await read("written")).latest).to.equal(1);
    await form.getByLabel("Body:").fill("<p>Dear {{ name }}</p>");
    await press("Store as a new version");
    await page.getByText("Stored as version 2.").waitFor();
    await frame().getByText("Dear name").waitFor();
    await form.waitFor({ state: "detached" });
    const letter = { ...second, body: "<p>Dear {{ name }}</p>", headers: { "X-Kind": "letter" } };
    expect((await read("written")).letter).to.deep.equal(letter);
  });

  it("keep what was typed while one looks at another page, until it is stored or closed", async () => {
    const { page } = watched;
    await put("kept", first);
    await open("templates/kept?write=true");
    const form = page.getByRole("region", { name: "Write" });
    await form.getByLabel("Subject").fill("Half a thou");
    await open("templates");
    await page.getByRole("link", { name: "kept" }).click();
    await press("Write a new version");
    expect(await form.getByLabel("Subject").inputValue()).to.equal("Half a thou");
    await press("Close without storing");
    await press("Write a new version");
    expect(await form.getByLabel("Subject").inputValue()).to.equal(first.subject);
    await open("templates?new=true");
    await form.getByLabel("Name").fill("brand-new");
    await open("templates");
    await page.getByRole("link", { name: "kept" }).waitFor();
    await open("templates?new=true");
    expect(await form.getByLabel("Name").inputValue()).to.equal("brand-new");
    await press("Close without storing");
  });

  it("say where the letter is there already, and where others stored one meanwhile", async () => {
    const { page } = watched;
    await put("again", first, second);
    await open("templates/again?version=1&write=true");
    await press("Store as a new version");
    await page.getByText("This letter is version 1 already, and was not stored again. The latest one is 2.").waitFor();
    await open("templates/again?version=2&write=true");
    await page.getByLabel("Subject").fill("Mine");
    await put("again", { ...first, subject: "Theirs" });
    await press("Store as a new version");
    await page.getByText("Stored as version 4. Others stored a version meanwhile.").waitFor();
  });

  it("make a new one, under no name that is taken", async () => {
    const { page } = watched;
    await put("taken", first);
    await open("templates");
    await press("New template");
    await page.getByLabel("Subject").fill("Hello");
    await page.getByLabel("Body:").fill("Hello {{ name }}");
    const name = page.getByLabel("Name");
    for (const [typed, fault] of [
      ["", "The name is missing."],
      ["taken", "There is a template taken already."],
      ["Not so", 'the name in the path is "Not so"'],
    ] as const) {
      await name.fill(typed);
      await press("Store this template");
      await page.locator(".fault").getByText(fault).waitFor();
    }
    expect(await watched.findBarriers()).to.deep.equal([]);
    expect((await read("taken")).latest).to.equal(1);
    await name.fill("fresh");
    await press("Store this template");
    await page.getByRole("heading", { name: "Version 1, the latest" }).waitFor();
    expect((await read("fresh")).letter).to.deep.equal({ subject: "Hello", body: "Hello {{ name }}" });
  });

  it("archive one after a question, and say what that means", async () => {
    const { page } = watched;
    await put("archived", first);
    await open("templates/archived");
    await press("Archive");
    await page.getByRole("dialog").getByRole("button", { name: "Archive this template" }).click();
    await page.getByText("This template is archived.").waitFor();
    expect(await page.getByRole("button", { name: "Use in Compose" }).count()).to.equal(0);
    await open("templates");
    await page.getByRole("heading", { name: "Templates" }).waitFor();
    await page.getByRole("link", { name: "fresh" }).waitFor();
    expect(await page.getByRole("link", { name: "archived" }).count()).to.equal(0);
    await open("compose");
    await page.getByLabel("Use a template").fill("archived");
    await press("Use");
    await page.getByRole("alert").getByText("New jobs and mailings cannot name archived.").waitFor();
  });

  it("lead to Compose, which sends the version that it showed", async () => {
    const { page } = watched;
    await put("sent", first);
    await open("templates/sent");
    await press("Use in Compose");
    await page.getByText("The letter is version 1 of the template").waitFor();
    expect(await page.getByLabel("Subject").count()).to.equal(0);
    await page.getByRole("region", { name: "Template" }).getByText("Welcome, {{ name }}").waitFor();
    await page.getByLabel("Recipients: one address").fill("email,name\nada@example.com,Ada\n");
    await press("Check and preview");
    await frame().getByText("Hello Ada").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    await put("sent", second);
    await press("Send to 1 recipient");
    await page.getByRole("heading", { name: "Welcome, {{ name }}" }).waitFor();
    const [, jobId = ""] = /#\/jobs\/([^?]+)/.exec(page.url()) ?? [];
    expect((await stage.api.ended(jobId)).progress.sent).to.equal(1);

    await open("compose");
    await press("Write the letter here");
    await page.getByLabel("Use a template").fill("no-such");
    await press("Use");
    await page.getByRole("alert").getByText("There is no template with this name").waitFor();
    await page.getByLabel("Use a template").fill("sent");
    await press("Use");
    await page.getByText("The letter is version 2 of the template").waitFor();
    await page.getByLabel("Recipients: one address").fill("email,name\nada@example.com,Ada\n");
    await press("Create a mailing");
    await page.getByRole("heading", { name: "Good to see you, {{ name }}" }).waitFor();
    await open("compose");
    await press("Write the letter here");
    await page.getByLabel("Subject").waitFor();
  });
});

describe("The pages of templates for a key that may only read", () => {
  const reading = newKey({ scopes: ["jobs:read"] });
  const writing = newKey({ scopes: ["jobs:read", "jobs:write"] });
  let api: RunningApi;
  let watched: WatchedPage;

  before(async () => {
    const settings = { mode: "required", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    api = await startApi({
      access: createAccess(ringOf([reading.record, writing.record]), settings),
      dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }),
    });
    watched = await openPage(`${api.url}/#/templates`);
    await watched.page.getByLabel("API key").fill(reading.text);
    await watched.page.keyboard.press("Enter");
  });
  after(async () => {
    await watched.close();
    await api.close();
    expect(watched.sins).to.deep.equal([]);
  });

  it("say that there is none", async () => {
    await watched.page.getByText("There is no template yet.").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("offer nothing that changes one", async () => {
    const { page } = watched;
    await api.ask("PUT", "/api/templates/kept", { body: first, headers: bearer(writing.text) });
    await page.goto(`${api.url}/#/templates/kept?write=true`);
    await page.frameLocator("iframe.mail").getByText("Hello name").waitFor();
    expect(await page.getByRole("main").getByRole("button").allTextContents()).to.deep.equal(["Preview"]);
    expect(await page.getByLabel("Subject").count()).to.equal(0);
    await page.goto(`${api.url}/#/templates?new=true`);
    await page.getByRole("link", { name: "kept" }).waitFor();
    expect(await page.getByLabel("Subject").count()).to.equal(0);
  });
});
