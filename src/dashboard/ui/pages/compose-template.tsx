import { useId, useState } from "preact/hooks";
import type { TemplateAnswer, TemplatePage, TemplateVersionAnswer } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import { CheckedField } from "../parts/checked-field.tsx";
import { ProblemBox } from "../parts/messages.tsx";
import { linkTo } from "../router.ts";
import { useGet } from "../use-load.ts";

type TemplateProps = {
  /** `welcome@3`; empty where the letter is written here. */
  readonly template: string;
  readonly onChange: (template: string) => void;
};

/**
 * Offers a template in place of a letter. The draft names its version, not only its name: what was previewed is what is
 * sent, and all jobs of one mailing have the same words.
 */
export const ComposeTemplate = ({ template, onChange }: TemplateProps) =>
  template === "" ? <Offer onChange={onChange} /> : <Used template={template} onChange={onChange} />;

const pathOf = (name: string): string => `api/templates/${encodeURIComponent(name)}`;

/** Of many templates the list has the first; any name can be typed. */
function Offer({ onChange }: Pick<TemplateProps, "onChange">) {
  const list = useId();
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const known = useGet<TemplatePage>("api/templates?limit=100");
  const use = async (): Promise<void> => {
    const [name = "", version] = typed.trim().split("@");
    setProblem(null);
    try {
      const { latest, archivedAt } = await get<TemplateAnswer>(pathOf(name));
      if (archivedAt !== null) throw archived(name);
      onChange(`${name}@${version ?? latest}`);
    } catch (failure) {
      setProblem(toProblem(failure));
    }
  };
  return (
    <>
      <div class="filters">
        <CheckedField
          label="Use a template: its name, or its name and version"
          value={typed}
          onInput={setTyped}
          list={list}
        />
        <datalist id={list}>
          {known.value?.data.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button type="button" disabled={typed.trim() === ""} onClick={() => void use()}>
          Use
        </button>
      </div>
      {problem !== null && <ProblemBox problem={problem} />}
    </>
  );
}

const archived = (name: string): Problem =>
  new Problem(409, {
    title: "The template is archived",
    detail: `New jobs and mailings cannot name ${name}. Its next version brings it back.`,
  });

function Used({ template, onChange }: TemplateProps) {
  const [name = "", version = ""] = template.split("@");
  const { value, problem } = useGet<TemplateVersionAnswer>(`${pathOf(name)}/versions/${encodeURIComponent(version)}`);
  return (
    <section class="box" aria-label="Template">
      <div class="pager">
        <span>
          The letter is version {version} of the template <a href={linkTo(["templates", name], { version })}>{name}</a>
          {value !== null && <>: {value.letter.subject}</>}
        </span>
        <button type="button" onClick={() => onChange("")}>
          Write the letter here
        </button>
      </div>
      {problem !== null && <ProblemBox problem={problem} />}
    </section>
  );
}
