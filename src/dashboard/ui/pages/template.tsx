import { useState } from "preact/hooks";
import type { TemplateAnswer, TemplateVersionAnswer } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog } from "../parts/ask-dialog.tsx";
import { ProblemBox, tell } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Ago } from "../parts/status.tsx";
import { changeQuery, goTo, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { TemplateEditor } from "./template-editor.tsx";
import { TemplateFacts, TemplatePreview } from "./template-preview.tsx";
import { TemplateVersions } from "./template-versions.tsx";

const refreshMs = 15_000;

export const templatePath = (name: string): string => `api/templates/${encodeURIComponent(name)}`;

/** One template: the version that the place names, the latest one otherwise. */
export function Template({ name }: { readonly name: string }) {
  const { query } = place.value;
  const loaded = useGet<TemplateAnswer>(templatePath(name), refreshMs);
  const [isAsked, setAsked] = useState(false);
  const template = loaded.value;
  if (template === null) return loaded.problem === null ? <p>Loading…</p> : <ProblemBox problem={loaded.problem} />;
  const version = Number(query.get("version") ?? template.latest);
  const archive = async (): Promise<void> => {
    await send("DELETE", templatePath(name));
    tell("The template is archived.");
    loaded.reload();
  };
  return (
    <>
      <p class="path">
        <a href={linkTo(["templates"])}>Templates</a> / <code>{name}</code>
      </p>
      <div class="title">
        <h1>{name}</h1>
        {can("jobs:write") && (
          <div class="buttons">
            {template.archivedAt === null && (
              <>
                <button type="button" onClick={() => goTo(["compose"], { template: `${name}@${version}` })}>
                  Use in Compose
                </button>
                <button type="button" class="danger" onClick={() => setAsked(true)}>
                  Archive
                </button>
              </>
            )}
            <button type="button" class="primary" onClick={() => changeQuery({ write: "true" })}>
              Write a new version
            </button>
          </div>
        )}
      </div>
      {loaded.problem !== null && <ProblemBox problem={loaded.problem} />}
      {template.archivedAt !== null && (
        <div class="box empty">
          <strong>This template is archived.</strong> <Ago at={template.archivedAt} />
          <p>
            New jobs and mailings cannot name it; those that were accepted keep its words. Its next version brings it
            back.
          </p>
        </div>
      )}
      <Version key={version} template={template} version={version} onStored={loaded.reload} />
      <TemplateVersions template={template} current={version} />
      {isAsked && (
        <AskDialog
          title={`Archive the template ${name}?`}
          action="Archive this template"
          keep="Keep it"
          isDangerous
          hasNoReason
          onConfirm={archive}
          onClose={() => setAsked(false)}
        >
          <p>
            Jobs and mailings that name it from now on are refused, also those of your programs. Those that were
            accepted keep its words.
          </p>
        </AskDialog>
      )}
    </>
  );
}

type VersionProps = {
  readonly template: TemplateAnswer;
  readonly version: number;
  readonly onStored: () => void;
};

function Version({ template: { name, latest }, version, onStored }: VersionProps) {
  const { value, problem } = useGet<TemplateVersionAnswer>(`${templatePath(name)}/versions/${version}`);
  if (value === null) return problem === null ? <p>Loading…</p> : <ProblemBox problem={problem} />;
  const { letter } = value;
  const close = (): void => changeQuery({ write: null });
  return (
    <>
      {place.value.query.has("write") && can("jobs:write") && (
        <TemplateEditor name={name} from={{ version, latest, letter }} onStored={onStored} onClose={close} />
      )}
      <Section
        name="Version"
        title={`Version ${version}${version === latest ? ", the latest" : ` of ${latest}`}`}
        problem={problem}
      >
        <TemplateFacts letter={letter} />
        <TemplatePreview name={name} version={version} letter={letter} />
      </Section>
    </>
  );
}
