import { type TestContext, mock } from "node:test";

import { Desk, type Entry, type Settings } from "../src/index.js";
import { FakeDesk, Queue } from "./fake-desk.js";

export const LOGIN = { gateway: "gw-1", secret: "canary-secret-0123456789" };
export const PLACE = { platform: "discord", chat_id: "c1" };

// A redial comes at once, unless a test says otherwise.
mock.method(Math, "random", () => 0);

/** A desk and an agent, which the end of the test closes. */
export async function pair(
  t: TestContext,
  more: Partial<Settings> = {},
  refusals: number[] = [],
): Promise<{ fake: FakeDesk; desk: Desk }> {
  const fake = await FakeDesk.open();
  fake.refusals.push(...refusals);
  const desk = Desk.connect({ url: fake.url, login: LOGIN, ...more });
  t.after(async () => {
    desk.disconnect();
    fake.close();
    // A mocked timer must be cleared before the mock of the next test begins.
    await desk.ended().catch(() => undefined);
  });
  return { fake, desk };
}

/** Turns whose ends a test decides. */
export function turns(desk: Desk): Queue<{ entry: Entry; end: (error?: Error) => void }> {
  const begun = new Queue<{ entry: Entry; end: (error?: Error) => void }>();
  const handler = (entry: Entry): Promise<void> =>
    new Promise((resolve, reject) => begun.put({ entry, end: (error) => (error ? reject(error) : resolve()) }));
  desk.run(handler, () => undefined).catch(() => undefined);
  return begun;
}
