import type { ComponentChildren } from "preact";

export type Tab = { readonly id: string; readonly title: string; readonly view: () => ComponentChildren };

type TabsProps = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
};

/** Follows the ARIA practices: arrows move between the tabs, Tab moves into the tab's content. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const current = tabs.find(({ id }) => id === chosen) ?? tabs[0];
  if (current === undefined) return null;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length] ?? current;
    onChoose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            aria-selected={id === current.id}
            aria-controls="tab-panel"
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${current.id}`}>
        {current.view()}
      </div>
    </>
  );
}
