import { createMemoryAnnouncements } from "../../src/event-log/memory-announcements.ts";
import { announcementsContract } from "./announcements-contract.ts";

describe("announcements in memory", () => {
  const announcements = createMemoryAnnouncements();
  announcementsContract(() => announcements);
});
