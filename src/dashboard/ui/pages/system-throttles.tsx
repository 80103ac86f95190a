import type { ThrottleListAnswer } from "../api/answers.ts";
import { Empty } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Ago } from "../parts/status.tsx";
import { Rows } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { useGet } from "../use-load.ts";

const path = "api/admin/throttles";
const refreshMs = 5000;

/** The receivers of mail that have asked for patience, the slowest first. */
export function Throttles() {
  const { value, problem } = useGet<ThrottleListAnswer>(path, refreshMs);
  return (
    <Section name="Slowed receivers" problem={problem}>
      {value?.total === 0 && <Empty title="No receiver has asked for patience" />}
      {value !== null && value.total > 0 && (
        <Rows
          caption={`The slowest of ${figure(value.total)} receivers that have asked for patience`}
          head={["Receiver", "Route", "Mails a minute", "At a time", "Since", "Refused", "Paused until", "Answer"]}
          rows={value.data.map((one) => [
            one.receiver,
            one.route,
            one.perMinute,
            one.connections,
            <Ago at={one.since} />,
            <Ago at={one.refusedAt} />,
            one.pausedUntil && <Ago at={one.pausedUntil} />,
            one.reason.message,
          ])}
        />
      )}
    </Section>
  );
}
