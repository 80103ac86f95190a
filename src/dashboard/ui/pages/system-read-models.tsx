import { useState } from "preact/hooks";
import type { ReadModelAnswer, ReadModelList } from "../api/answers.ts";
import { send } from "../api/client.ts";
import { AskDialog } from "../parts/ask-dialog.tsx";
import { tell } from "../parts/messages.tsx";
import { Section } from "../parts/section.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { Rows } from "../parts/table.tsx";
import { figure, percent } from "../reading/words.ts";
import { useGet } from "../use-load.ts";

const path = "api/admin/projections";
const refreshMs = 2000;

/** The state of each read model, and a button that rebuilds it. */
export function RebuiltReadModels() {
  const { value, problem, reload } = useGet<ReadModelList>(path, refreshMs);
  const [asked, setAsked] = useState<string | null>(null);
  const rebuild = async (): Promise<void> => {
    await send("POST", `${path}/${asked}/rebuild`);
    tell("The rebuild is requested.");
    reload();
  };
  return (
    <Section name="Read models" problem={problem}>
      {value !== null && (
        <Rows
          caption="State of the read models"
          head={["Read model", "Version", "State", "At event", "Building", "Rebuild"]}
          rows={value.data.map((model) => [
            model.name,
            model.version,
            <State model={model} />,
            model.live?.sequence,
            model.next && <Progress at={model.next.sequence} end={value.lastSequence} />,
            <button type="button" disabled={isAsked(model)} onClick={() => setAsked(model.name)}>
              Rebuild
            </button>,
          ])}
        />
      )}
      {asked !== null && (
        <AskDialog
          title={`Rebuild ${asked}?`}
          action={`Rebuild ${asked}`}
          hasNoReason
          onConfirm={rebuild}
          onClose={() => setAsked(null)}
        >
          <p>The API reads the old rows during the rebuild and keeps them afterwards, in place of those kept before.</p>
        </AskDialog>
      )}
    </Section>
  );
}

const isAsked = ({ request }: ReadModelAnswer): boolean => request !== null && request.error === null;

const State = ({ model }: { readonly model: ReadModelAnswer }) => (
  <>
    <Status of={model.status ?? "unknown"} /> {model.kept !== null && <small>old rows kept</small>}
    {model.error !== null && <div>{model.error}</div>}
    {model.request !== null && (
      <div>
        {model.request.error ?? "Rebuild requested"} <Ago at={model.request.requestedAt} />{" "}
        <small>{model.request.requestedBy}</small>
      </div>
    )}
  </>
);

const Progress = ({ at, end }: { readonly at: number; readonly end: number | null }) => (
  <>
    {figure(at)} <small>{end !== null && percent(at / Math.max(at, end, 1))}</small>
  </>
);
