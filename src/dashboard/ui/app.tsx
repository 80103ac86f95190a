import { useEffect, useRef } from "preact/hooks";
import type { Me } from "./api/answers.ts";
import { get } from "./api/client.ts";
import type { Page } from "./page.ts";
import { pages } from "./pages.ts";
import { Empty, ProblemBox, Told } from "./parts/messages.tsx";
import { linkTo, place } from "./router.ts";
import { can, key, keyWanted, me, signOut } from "./session.ts";
import { Shortcuts, ShortcutsButton } from "./shortcuts.tsx";
import { SignIn } from "./sign-in.tsx";
import { useLoad } from "./use-load.ts";

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      {keyWanted.value === null ? <Inside /> : <SignIn why={keyWanted.value} />}
      <Told />
    </>
  );
}

/** A button and not a link: the hash holds the place here, so the browser's own jump would leave the page. */
const skip = (): void => document.getElementById("content")?.focus();

const Inside = () => (me.value === null ? <Asking /> : <Frame />);

/** Loads the caller first: the dashboard hides what the key may not do. */
function Asking() {
  const asked = useLoad(`me ${key.value}`, (signal) => get<Me>("api/me", signal));
  useEffect(() => {
    if (asked.value !== null) me.value = asked.value;
  }, [asked.value]);
  return <main class="alone">{asked.problem === null ? <p>Loading…</p> : <ProblemBox problem={asked.problem} />}</main>;
}

function Frame() {
  const shown = pages.filter(({ needs, isOffered }) => isOffered !== false && needs.every(can));
  const [first, ...parts] = place.value.path;
  const page = first === undefined ? shown[0] : shown.find(({ path }) => path === first);
  return (
    <>
      <header>
        <a class="brand" href={linkTo([])}>
          Waybill
        </a>
        <Pages shown={shown} current={page?.path} />
        <span class="caller">
          {me.value?.tenant}
          <ShortcutsButton />
          {key.value !== null && (
            <button type="button" onClick={signOut}>
              Sign out
            </button>
          )}
        </span>
      </header>
      <Content page={page} parts={parts} />
      <Shortcuts pages={shown} />
    </>
  );
}

/**
 * On a narrow screen the row of pages is wider than the screen: the current one is scrolled to its middle,
 * again where a link grows, as by the number of what is unread.
 */
function Pages({ shown, current }: { readonly shown: readonly Page[]; readonly current: string | undefined }) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const links = [...(row.current?.children ?? [])];
    const widths = new ResizeObserver(() => scrollToCurrent(row.current));
    for (const link of links) widths.observe(link);
    return () => widths.disconnect();
  }, [current]);
  return (
    <nav ref={row} aria-label="Pages">
      {shown.map(({ path, title, mark }) => (
        <a key={path} href={linkTo([path])} aria-current={current === path ? "page" : undefined}>
          {title}
          {mark?.()}
        </a>
      ))}
    </nav>
  );
}

const scrollToCurrent = (row: HTMLElement | null): void => {
  const link = row?.querySelector<HTMLElement>("[aria-current]");
  if (row && link) row.scrollLeft = link.offsetLeft - (row.clientWidth - link.clientWidth) / 2;
};

function Content({ page, parts }: { readonly page: Page | undefined; readonly parts: readonly string[] }) {
  const content = useRef<HTMLElement>(null);
  const at = [page?.path, ...parts].join("/");
  const before = useRef(at);
  useEffect(() => {
    document.title = `${page?.title ?? "Not here"} – Waybill`;
    // Users of a keyboard or a screen reader start at the top of the new page.
    if (before.current !== at) content.current?.focus();
    before.current = at;
  }, [at, page]);
  return (
    <main id="content" ref={content} tabIndex={-1}>
      {page === undefined ? (
        <Empty title="This page is not available.">
          <p>The page does not exist, or the key lacks a scope that it needs.</p>
        </Empty>
      ) : (
        <page.view key={page.path} parts={parts} />
      )}
    </main>
  );
}
