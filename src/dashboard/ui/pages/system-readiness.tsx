import { useState } from "preact/hooks";
import type { SenderReadiness } from "../api/answers.ts";
import { Seek } from "../parts/field.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { useGet } from "../use-load.ts";

/** What receivers will find of a domain that is to send, and what to do about it. */
export function ReadyToSend() {
  const [domain, setDomain] = useState("");
  return (
    <Section name="Ready to send?">
      <Seek label="Domain of the sender" value={domain} pattern=".+\..+" action="Examine" onSeek={setDomain} />
      {domain !== "" && <Findings domain={domain} />}
    </Section>
  );
}

function Findings({ domain }: { readonly domain: string }) {
  const { value, problem, isStale } = useGet<SenderReadiness>(`api/admin/readiness/${encodeURIComponent(domain)}`);
  if (problem !== null) return <ProblemBox problem={problem} />;
  if (value === null || isStale) return <p>DNS and servers are asked about {domain}.</p>;
  return (
    <Table caption={`What receivers find of ${value.domain}`} head={["Part", "State", "Finding", "What to do"]}>
      {value.findings.map(({ part, level, what, advice }) => (
        <tr key={what}>
          <td>{part}</td>
          <td>
            <Status of={level} />
          </td>
          <td class="wide">{what}</td>
          <td class="wide">{advice ?? "–"}</td>
        </tr>
      ))}
    </Table>
  );
}
