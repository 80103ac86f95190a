import { signal } from "@preact/signals";
import type { NotificationPage } from "../api/answers.ts";
import { get } from "../api/client.ts";
import { useLoad } from "../use-load.ts";

const refreshMs = 15_000;
const most = 100;
const round = signal(0);

/** Call this after notifications were read: the menu reloads its count at once. */
export const askUnread = (): void => {
  round.value += 1;
};

/** The number of unread notifications; nothing where there are none. */
export function Unread() {
  const path = `api/notifications?unread=true&limit=${most}`;
  const { value } = useLoad(`${path} ${round.value}`, (signal) => get<NotificationPage>(path, signal), refreshMs);
  const count = value?.data.length ?? 0;
  if (count === 0) return null;
  return (
    <>
      {" "}
      <span class="unread">{value?.nextCursor === null ? count : `${most}+`}</span>
    </>
  );
}
