import type { TemplatePage } from "../api/answers.ts";
import { withQuery } from "../api/client.ts";
import type { Page } from "../page.ts";
import { CursorPager } from "../parts/cursor-pager.tsx";
import { Empty, ProblemBox } from "../parts/messages.tsx";
import { Ago } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { figure } from "../reading/words.ts";
import { goTo, linkTo, place } from "../router.ts";
import { can } from "../session.ts";
import { useGet } from "../use-load.ts";
import { Template } from "./template.tsx";
import { NewTemplate } from "./template-editor.tsx";

export const templatesPage: Page = {
  path: "templates",
  shortcut: "t",
  title: "Templates",
  needs: ["jobs:read"],
  view: ({ parts: [name] }) => {
    if (name !== undefined) return <Template key={name} name={name} />;
    return place.value.query.has("new") && can("jobs:write") ? <NewTemplate /> : <Templates />;
  },
};

const refreshMs = 10_000;

/** Letters that have a name. */
function Templates() {
  const cursor = place.value.query.get("cursor");
  const list = useGet<TemplatePage>(withQuery("api/templates", { cursor, limit: 50 }), refreshMs);
  const templates = list.value?.data ?? [];
  return (
    <>
      <div class="title">
        <h1>Templates</h1>
        {can("jobs:write") && (
          <button type="button" class="primary" onClick={() => goTo(["templates"], { new: "true" })}>
            New template
          </button>
        )}
      </div>
      {list.problem !== null && <ProblemBox problem={list.problem} />}
      {list.value?.nextCursor === null && templates.length === 0 && (
        <Empty title={cursor === null ? "There is no template yet." : "There are no newer ones."}>
          <p>
            A template is a letter with a name and with versions, which jobs and mailings name instead of its words.
          </p>
        </Empty>
      )}
      {templates.length > 0 && (
        <Table caption="Templates, the one that was changed last comes last" head={["Name", "Versions", "Changed"]}>
          {templates.map(({ name, versions, updatedAt }) => (
            <tr key={name}>
              <td class="wide">
                <a href={linkTo(["templates", name])}>{name}</a>
              </td>
              <td>{figure(versions)}</td>
              <td>
                <Ago at={updatedAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <CursorPager first="Oldest" next="Newer" nextCursor={list.value?.nextCursor ?? null} />
    </>
  );
}
