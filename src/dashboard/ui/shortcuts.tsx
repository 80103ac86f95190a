import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Page } from "./page.ts";
import { goTo } from "./router.ts";

/** Kept in this browser: people who dictate, or who press keys by mistake, can turn the shortcuts off (WCAG 2.1.4). */
const place = "waybill-shortcuts";
const areOn = signal(localStorage.getItem(place) !== "off");

function turn(isOn: boolean): void {
  localStorage.setItem(place, isOn ? "on" : "off");
  areOn.value = isOn;
}

const isShown = signal(false);

/** How long after `g` the letter of a page may follow. */
const goMs = 1500;

/** What the keys do that are not `g` and the letter of a page. */
const others: readonly (readonly [key: string, effect: string])[] = [
  ["/", "Search on this page"],
  ["j", "Down to the next row"],
  ["k", "Up to the row before"],
  ["?", "Show these shortcuts"],
];

/** Keys that act on the whole page. `?` lists them; none works while one types, or with Ctrl, Alt or Meta. */
export function Shortcuts({ pages }: { readonly pages: readonly Page[] }) {
  // Before the page is seen, so that no key is lost.
  useLayoutEffect(() => {
    let goesAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (event.key === "?") isShown.value = true;
      if (!areOn.value) return;
      const isGoing = event.timeStamp - goesAt < goMs;
      goesAt = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (isGoing) goTo([pages.find(({ shortcut }) => shortcut === event.key)?.path ?? ""].filter(Boolean));
      else if (event.key === "/") focusSearch(event);
      else if (event.key === "j") moveRow(1);
      else if (event.key === "k") moveRow(-1);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [pages]);
  return isShown.value ? <Help pages={pages} /> : null;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input:not([type=checkbox]), select, textarea") !== null;

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search], main form.filters input");
  if (field === null) return;
  field.closest("details")?.setAttribute("open", "");
  field.focus();
  // The key itself is not to be typed into the field.
  event.preventDefault();
}

/** To the link of the row below or above the one that has the focus; to the first row where none has it. */
function moveRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("main tbody tr")].flatMap(
    (row) => row.querySelector("a") ?? [],
  );
  const at = links.findIndex((link) => link.closest("tr")?.contains(document.activeElement));
  links[at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function Help({ pages }: { readonly pages: readonly Page[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title" onClose={() => (isShown.value = false)}>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {others.map(([key, effect]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
        {pages.map(({ path, title, shortcut }) => (
          <div key={path}>
            <dt>
              <kbd>g</kbd> <kbd>{shortcut}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={areOn.value} onChange={(event) => turn(event.currentTarget.checked)} /> Use
        these keys in this browser
      </label>
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

/** Beside the menu, for those who do not know the key. */
export const ShortcutsButton = () => (
  <button
    type="button"
    aria-label="Keyboard shortcuts"
    title="Keyboard shortcuts"
    onClick={() => (isShown.value = true)}
  >
    ?
  </button>
);
