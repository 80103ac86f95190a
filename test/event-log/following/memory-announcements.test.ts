import { createMemoryAnnouncements } from "../../support/memory/memory-announcements.ts";
import { announcementsContract } from "./announcements-contract.ts";

describe("announcements in memory", () => {
  const announcements = createMemoryAnnouncements();
  announcementsContract(() => announcements);
});
