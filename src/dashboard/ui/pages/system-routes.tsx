import type { MailRouteAnswer, MailRouteList } from "../api/answers.ts";
import { Section } from "../parts/section.tsx";
import { Status } from "../parts/status.tsx";
import { Rows } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { useGet } from "../use-load.ts";

const refreshMs = 10_000;

/** The mail routes: what each may carry, its state in the workers, and how much it has carried. */
export function MailRoutes() {
  const { value, problem } = useGet<MailRouteList>("api/admin/routes", refreshMs);
  return (
    <Section name="Mail routes" problem={problem}>
      {value !== null && (
        <Rows
          caption="SMTP accounts by which mails leave"
          head={["Route", "State", "Serves", "Order", "Weight", "Rate", "In flight", "Waiting", "Sent", "Unavailable"]}
          rows={value.data.map((route) => [
            route.name,
            <Status of={route.state} />,
            servedBy(route),
            route.order,
            route.weight,
            route.rate === null ? null : `${figure(route.rate)}/s`,
            sumOf(route, ({ inFlight }) => inFlight),
            sumOf(route, ({ waiting }) => waiting),
            route.counts.sent,
            route.counts.unavailable,
          ])}
        />
      )}
      {value?.unreadable.map(({ name, reason }) => (
        <p key={name}>
          The route {name} is not used: {reason}
        </p>
      ))}
    </Section>
  );
}

const servedBy = ({ senders, tenants }: MailRouteAnswer): string => {
  const parts = [senders?.join(", "), tenants && `tenants ${tenants.join(", ")}`].filter(Boolean);
  return parts.length === 0 ? "all mails" : parts.join("; ");
};

const sumOf = ({ workers }: MailRouteAnswer, count: (worker: MailRouteAnswer["workers"][number]) => number): number =>
  workers.reduce((sum, worker) => sum + count(worker), 0);
