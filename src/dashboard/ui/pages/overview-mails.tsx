import type { MailRatesAnswer } from "../api/answers.ts";
import { Choice } from "../parts/field.tsx";
import { Section } from "../parts/section.tsx";
import { Table } from "../parts/table.tsx";
import { figure, percent } from "../reading/words.ts";
import { changeQuery, place } from "../router.ts";
import { useGet } from "../use-load.ts";

const titles = { receiver: "Receiver", route: "Route", sender: "Sender" } as const;
type Grouping = keyof typeof titles;

const groupings = Object.keys(titles) as readonly Grouping[];

const refreshMs = 30_000;
const shown = 10;

/** What became of the mails of the last 24 hours, of each receiver, route or sender. */
export function MailRates() {
  const asked = place.value.query.get("mails");
  const by = groupings.find((name) => name === asked) ?? "receiver";
  const found = useGet<MailRatesAnswer>(`api/stats/mail-rates?by=${by}&limit=${shown}`, refreshMs);
  const rates = found.value?.rates ?? [];
  return (
    <Section name="Mails of the last 24 hours" problem={found.problem}>
      <div class="filters">
        <Choice
          label="By"
          value={by}
          options={groupings.map((name) => [name, titles[name].toLowerCase()])}
          onChange={(value) => changeQuery({ mails: value === "receiver" ? null : value })}
        />
      </div>
      {found.value !== null && rates.length === 0 && <p class="quiet">No mail server has answered.</p>}
      {rates.length > 0 && (
        <Table caption={`Mails by ${by}`} head={[titles[by], "Sent", "Deferred", "Failed", "Bounced", "Complained"]}>
          {rates.map((rate) => (
            <tr key={rate.name}>
              <td class="wide">{rate.name === "*" ? "all others" : rate.name}</td>
              <td>{figure(rate.sent)}</td>
              <td>{figure(rate.deferred)}</td>
              <td>{withShare(rate.failed, rate.failureRate)}</td>
              <td>{withShare(rate.bounced, rate.bounceRate)}</td>
              <td>{withShare(rate.complained, rate.complaintRate)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

const withShare = (some: number, share: number | null): string =>
  some === 0 || share === null ? figure(some) : `${figure(some)} (${percent(share)})`;
