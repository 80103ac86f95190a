import type { StreamAnswer, SystemAnswer } from "../api/answers.ts";
import { ProblemBox } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Rows } from "../parts/table.tsx";
import { duration, figure } from "../reading/words.ts";
import { useGet } from "../use-load.ts";

const path = "api/admin/system";
/** Servers before 2.10 take long to list consumers. */
const refreshMs = 10_000;

/** The streams and consumers of the service in NATS, its workers, and its API keys. */
export function Servers() {
  const { value, problem } = useGet<SystemAnswer>(path, refreshMs);
  if (value === null) return problem && <ProblemBox problem={problem} />;
  return (
    <>
      <Section name="Streams" problem={problem}>
        <Rows
          caption="Streams in NATS"
          head={["Stream", "Messages", "Bytes", "From", "To", "At most", "Copies"]}
          rows={value.streams.map((stream) => [
            stream.name,
            stream.messages,
            stream.bytes,
            stream.firstSequence,
            stream.lastSequence,
            limitsOf(stream),
            stream.replicas,
          ])}
        />
      </Section>
      <Section name="Consumers">
        <Rows
          caption="Listeners and durable consumers"
          head={["Consumer", "Stream", "Waiting", "In progress", "Redelivered"]}
          rows={value.consumers.map(({ name, stream, pending, ackPending, redelivered }) => [
            name,
            stream,
            pending,
            ackPending,
            redelivered,
          ])}
        />
      </Section>
      <Section name="Workers">
        <Rows
          caption="Live workers"
          head={["Worker", "Kind", "Slots taken", "Slots", "Helps with", "Breaker"]}
          rows={value.workers.map(({ name, type, busy, slots, helping, breaker }) => [
            name,
            type,
            busy,
            slots,
            helping,
            breaker && <Status of={breaker} />,
          ])}
        />
      </Section>
      {value.passed.length > 0 && (
        <Section name="Passed by">
          <Rows
            caption="Messages of the log that an operator has passed"
            head={["Message", "Subject", "Fault", "Reason", "By", "At"]}
            rows={value.passed.map(({ sequence, subject, fault, reason, passedBy, passedAt }) => [
              sequence,
              subject,
              fault,
              reason,
              passedBy,
              <Ago at={passedAt} />,
            ])}
          />
        </Section>
      )}
      <Section name="Keys">
        <Rows
          caption="API keys"
          head={["Key", "Tenant", "Name", "Scopes", "Created", "Revoked"]}
          rows={value.keys.map(({ id, tenant, name, scopes, createdAt, revokedAt }) => [
            id,
            tenant,
            name,
            scopes.join(", "),
            <Ago at={createdAt} />,
            <Ago at={revokedAt} />,
          ])}
        />
      </Section>
    </>
  );
}

const limitsOf = ({ maxBytes, maxMessages, maxAgeSeconds }: StreamAnswer): string | null =>
  [
    maxBytes && `${figure(maxBytes)} bytes`,
    maxMessages && `${figure(maxMessages)} messages`,
    maxAgeSeconds && duration(maxAgeSeconds),
  ]
    .filter(Boolean)
    .join(", ") || null;
