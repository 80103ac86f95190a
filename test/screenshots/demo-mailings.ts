import type { DashboardStage } from "../support/dashboard-stage.ts";

const names = ["Ada", "Bob", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Radia", "Ken", "Frances"];

const html = `<h1 style="font-family: sans-serif; color: #1f5fbf">News for {{ name }}</h1>
<p>Dear {{ name }},</p>
<p>the leaves are falling, and here is what we have been up to this autumn.</p>
<p>Yours,<br>the people of Example</p>`;

/** Addresses that a mail server refuses, now and then, as in any real list. */
const addressOf = (index: number): string =>
  index % 60 === 59
    ? `gone-${index}@example.com`
    : `${names[index % names.length]?.toLowerCase()}-${index}@example.com`;

export const demoMailing = (subject: string, recipients: number) => ({
  subject,
  body: html,
  recipients: Array.from({ length: recipients }, (_, index) => ({
    email: addressOf(index),
    variables: { name: names[index % names.length] },
  })),
});

export const demoDraft = {
  subject: "News for {{ name }}",
  body: html,
  csv: names
    .map((name) => `${name.toLowerCase()}@example.com,${name}`)
    .reduce((csv, line) => `${csv}\n${line}`, "email,name"),
};

const sent = ["Invoices of October", "Your order is on its way", "We have moved", "Release notes 4.2"];

/** What an operator finds on an ordinary day: mailings that went well, one that did not, and one for tomorrow. */
export async function playDemo({ api, mailServer }: DashboardStage): Promise<void> {
  for (let index = 59; index < 1000; index += 60) {
    mailServer.answerRecipient(addressOf(index), { code: 550, text: "5.1.1 no such user" });
  }
  for (const [index, subject] of sent.entries())
    await api.ended(await api.create(demoMailing(subject, 120 + 90 * index)));
  const refused = ["a", "b", "c"].map((name) => `${name}@old.example.com`);
  for (const address of refused) mailServer.answerRecipient(address, { code: 554, text: "5.7.1 not today" });
  await api.ended(await api.create({ subject: "To an old list", body: "Hello", recipients: refused }));
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
  await api.create({ ...demoMailing("Reminder", 300), scheduledAt });
}

/** A template, a schedule that uses it, the draft of a mailing, and a mailing that goes out, whose id is the answer. */
export async function playMailing({ url, api, mailServer }: DashboardStage): Promise<string> {
  await api.put("/api/templates/welcome", { subject: "Welcome, {{ name }}", body: html });
  const job = { template: "welcome", recipients: [{ email: "ada@example.com", variables: { name: "Ada" } }] };
  await api.post("/api/schedules", { name: "Weekly report", cron: "30 8 * * mon", timeZone: "Europe/Berlin", job });
  await draft(url, api, { name: "Price list" }, 2000);
  mailServer.slowDown(60);
  const mailingId = await draft(url, api, { name: "Autumn newsletter" }, 6000);
  await api.post(`/api/mailings/${mailingId}/start`, {});
  return mailingId;
}

async function draft(url: string, api: DashboardStage["api"], settings: object, recipients: number): Promise<string> {
  const request = { subject: "News for {{ name }}", body: html, ...settings };
  const { mailingId } = (await api.post("/api/mailings", request)).body as { readonly mailingId: string };
  const { recipients: people } = demoMailing("", recipients);
  await fetch(`${url}/api/mailings/${mailingId}/recipients`, {
    method: "PUT",
    headers: { "Content-Type": "application/x-ndjson" },
    body: people.map((person) => JSON.stringify(person)).join("\n"),
  });
  return mailingId;
}
