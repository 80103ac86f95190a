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
