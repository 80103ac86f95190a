import { useState } from "preact/hooks";
import type { TemplateAnswer } from "../api/answers.ts";
import { Section } from "../parts/section.tsx";
import { Ago } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { linkTo } from "../router.ts";

const shownAtFirst = 20;

type VersionsProps = { readonly template: TemplateAnswer; readonly current: number };

/** Every version, the newest first. None ever changes. */
export function TemplateVersions({ template: { name, versions }, current }: VersionsProps) {
  const [isWhole, setWhole] = useState(false);
  const newestFirst = versions.toReversed();
  const shown = isWhole ? newestFirst : newestFirst.slice(0, shownAtFirst);
  return (
    <Section name="Versions">
      <Table caption="Versions, the newest first" head={["Version", "Stored", "Digest"]}>
        {shown.map(({ version, sha256, createdAt }) => (
          <tr key={version}>
            <td>
              <a
                href={linkTo(["templates", name], { version: String(version) })}
                aria-current={version === current ? "true" : undefined}
              >
                Version {version}
              </a>
            </td>
            <td>
              <Ago at={createdAt} />
            </td>
            <td class="wide">
              <code>{sha256}</code>
            </td>
          </tr>
        ))}
      </Table>
      {shown.length < versions.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {figure(versions.length)} versions
        </button>
      )}
    </Section>
  );
}
