import type { Recipient } from "../reading/recipients.ts";
import { counted } from "../reading/words.ts";
import { can } from "../session.ts";
import type { Draft } from "./compose-request.ts";
import { ComposeTemplate } from "./compose-template.tsx";

type FieldsProps = {
  readonly draft: Draft;
  readonly recipients: readonly Recipient[];
  readonly onChange: (changes: Partial<Draft>) => void;
};

export function DraftFields({ draft, recipients, onChange }: FieldsProps) {
  const take = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) onChange({ recipients: await file.text() });
  };
  const drop = (event: DragEvent): void => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    void take(file);
  };
  return (
    <>
      {can("jobs:read") && (
        <ComposeTemplate template={draft.template} onChange={(template) => onChange({ template })} />
      )}
      {draft.template === "" && <LetterFields draft={draft} onChange={onChange} />}
      <label class="field">
        Recipients: one address a line, or CSV with a column “email” and one for each variable
        <textarea
          required
          rows={8}
          spellcheck={false}
          value={draft.recipients}
          onInput={(event) => onChange({ recipients: event.currentTarget.value })}
          onDragOver={(event) => event.preventDefault()}
          onDrop={drop}
        />
      </label>
      <p class="quiet">
        {counted(recipients.length, "recipient")}
        {variablesOf(recipients)}
        {recipients.length > 1000 && ", in several jobs of 1000 at most, or in one mailing"}
      </p>
      <label class="field">
        Or choose a file, or drop one on the recipients
        <input
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
      <details>
        <summary>More</summary>
        <div class="filters">
          <label class="field">
            From
            <input type="text" value={draft.from} onInput={(event) => onChange({ from: event.currentTarget.value })} />
          </label>
          <label class="field">
            Name of the job
            <input
              type="text"
              maxLength={200}
              value={draft.name}
              onInput={(event) => onChange({ name: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            Priority
            <select
              value={draft.priority}
              onChange={(event) => onChange({ priority: event.currentTarget.value as Draft["priority"] })}
            >
              <option value="high">high</option>
              <option value="normal">normal</option>
              <option value="low">low</option>
            </select>
          </label>
          <label class="field">
            Not before
            <input
              type="datetime-local"
              value={draft.scheduledAt}
              onInput={(event) => onChange({ scheduledAt: event.currentTarget.value })}
            />
          </label>
        </div>
      </details>
    </>
  );
}

const LetterFields = ({ draft, onChange }: Omit<FieldsProps, "recipients">) => (
  <>
    <label class="field">
      Subject
      <input
        type="text"
        required
        maxLength={200}
        value={draft.subject}
        onInput={(event) => onChange({ subject: event.currentTarget.value })}
      />
    </label>
    <label class="field">
      Letter: HTML or plain text, with {"{{ variables }}"}
      <textarea
        required
        rows={12}
        spellcheck={false}
        value={draft.body}
        onInput={(event) => onChange({ body: event.currentTarget.value })}
      />
    </label>
  </>
);

function variablesOf(recipients: readonly Recipient[]): string {
  const [first] = recipients;
  const names = [...(first?.name === undefined ? [] : ["name"]), ...Object.keys(first?.variables ?? {})];
  return names.length === 0 ? "" : ` with ${names.join(", ")}`;
}
