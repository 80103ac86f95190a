import type { Dependencies, EndpointPage, SealAnswer, SealKey, SealPage, StatsAnswer } from "../api/answers.ts";
import { get, withQuery } from "../api/client.ts";
import { loadStats } from "../api/load-stats.ts";
import { Problem } from "../api/problem.ts";
import type { Page } from "../page.ts";
import { PastAlerts, RaisedAlerts } from "../parts/alerts.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { ReadModels } from "../parts/read-models.tsx";
import { Section } from "../parts/section.tsx";
import { Ago, Fact, Status } from "../parts/status.tsx";
import { Rows, Table } from "../parts/table.tsx";
import { duration, figure } from "../reading/words.ts";
import { can } from "../session.ts";
import { useGet, useLoad } from "../use-load.ts";
import { RebuiltReadModels } from "./system-read-models.tsx";
import { ReadyToSend } from "./system-readiness.tsx";
import { MailRoutes } from "./system-routes.tsx";
import { Servers } from "./system-servers.tsx";
import { Throttles } from "./system-throttles.tsx";

export const systemPage: Page = {
  path: "system",
  shortcut: "s",
  title: "System",
  needs: ["jobs:read"],
  view: () => <System />,
};

const refreshMs = 5000;

/** The dependencies of the service, and the progress of each of its parts. */
function System() {
  const stats = useLoad("stats", loadStats, refreshMs);
  return (
    <>
      <h1>System</h1>
      <RaisedAlerts stats={stats.value?.ofAll ?? null} />
      <Readiness />
      {stats.problem !== null && <ProblemBox problem={stats.problem} />}
      {stats.value !== null && <Waiting stats={stats.value.own} />}
      {can("admin") ? <RebuiltReadModels /> : stats.value !== null && <ReadModels stats={stats.value.own} />}
      {can("admin") && <MailRoutes />}
      {can("admin") && <Throttles />}
      {can("admin") && <ReadyToSend />}
      {can("admin") && <Servers />}
      {can("events:read") && <Seals />}
      <Endpoints />
      {can("admin") && <PastAlerts />}
    </>
  );
}

/** A service that is not ready answers with a problem, which lists its dependencies all the same. */
const loadReadiness = (signal: AbortSignal): Promise<Dependencies> =>
  get<{ readonly dependencies: Dependencies }>("readyz", signal).then(
    ({ dependencies }) => dependencies,
    (failure: unknown) => {
      if (failure instanceof Problem && failure.dependencies !== null) return failure.dependencies;
      throw failure;
    },
  );

/** `last sequence` for `lastSequence`. */
const detailInWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function valueInWords(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(valueInWords).join("; ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, part]) => `${detailInWords(name)} ${valueInWords(part)}`)
      .join(", ");
  }
  return typeof value === "number" ? figure(value) : String(value ?? "none");
}

function Readiness() {
  const found = useLoad("readyz", loadReadiness, refreshMs);
  return (
    <Section name="Dependencies" problem={found.problem}>
      {found.value !== null && (
        <Table caption="Dependencies of this process" head={["Part", "State", "Details"]}>
          {Object.entries(found.value).map(([name, { status, needed, ...details }]) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <Status of={status} />
                {needed && <small> needed</small>}
              </td>
              <td class="wide">
                {Object.entries(details).map(([detail, value]) => (
                  <div key={detail}>
                    {detailInWords(detail)}: {valueInWords(value)}
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

const Waiting = ({ stats }: { readonly stats: StatsAnswer }) => (
  <Section name="Waiting jobs">
    <Rows
      caption="Waiting jobs by priority"
      head={["Priority", "Jobs", "Oldest"]}
      rows={Object.entries(stats.waiting).map(([priority, { jobs, oldestAgeSeconds }]) => [
        priority,
        jobs,
        oldestAgeSeconds === null ? null : duration(oldestAgeSeconds),
      ])}
    />
  </Section>
);

/** The list begins with the oldest seal, so the search starts near the end of the log and goes back until it finds one. */
async function findLastSeal(signal: AbortSignal): Promise<SealAnswer | null> {
  const end = Number((await loadReadiness(signal))["nats"]?.["lastSequence"] ?? 0);
  for (let back = 1000; ; back *= 2) {
    const query = { cursor: Math.max(0, end - back), limit: 1000 };
    const { data } = await get<SealPage>(withQuery("api/seals", query), signal);
    if (data.length > 0 || back >= end) return data.at(-1) ?? null;
  }
}

function Seals() {
  const last = useLoad("seals", findLastSeal, refreshMs * 6);
  const key = useGet<SealKey>("api/seals/key");
  return (
    <Section name="Seals" title="Seals of the log" problem={last.problem ?? key.problem}>
      <dl class="facts">
        {last.value !== null && (
          <>
            <Fact name="Last seal">
              <Ago at={last.value.sealedAt} />
            </Fact>
            <Fact name="Of events">
              {last.value.from} to {last.value.to}
            </Fact>
            <Fact name="Digest">
              <code>{last.value.digest}</code>
            </Fact>
          </>
        )}
        {key.value !== null && (
          <Fact name={`Public key ${key.value.keyId}`}>
            <code>{key.value.publicKey}</code>
          </Fact>
        )}
      </dl>
    </Section>
  );
}

function Endpoints() {
  const path = "api/webhook-endpoints";
  const { value, problem } = useGet<EndpointPage>(path);
  return (
    <Section name="Webhook endpoints" problem={problem}>
      {value?.data.length === 0 && (
        <Empty
          title="No webhook endpoint yet."
          command={`curl ${location.origin}/api/webhook-endpoints -H 'Content-Type: application/json' -d '{"url": "https://example.com/hook"}'`}
        />
      )}
      {value !== null && value.data.length > 0 && (
        <Table caption="Webhook endpoints" head={["URL", "Event types", "Created"]}>
          {value.data.map(({ id, url, types, createdAt }) => (
            <tr key={id}>
              <td class="wide">{url}</td>
              <td class="wide">{types.join(", ")}</td>
              <td>
                <Ago at={createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
